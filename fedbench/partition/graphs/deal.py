"""The clients of one data set's graphs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fedbench.partition.controls import random_clients
from fedbench.partition.graphs.kinds import GraphScheme
from fedbench.partition.name import PartitionName
from fedbench.seeds import generator


def dealt(graphs: int, clients: int, scheme: GraphScheme, name: PartitionName, dataset: str) -> np.ndarray:
    """Return int64[graphs], each graph's client, 0 .. clients - 1, of the data set ``dataset``."""
    return DEALS[scheme.deal](graphs, clients, scheme, name, dataset)


def _in_chunks(graphs: int, clients: int, scheme: GraphScheme, name: PartitionName, _: str) -> np.ndarray:
    return chunks(graphs, clients, scheme.chunk, scheme.split.seed + name.seed)


def _at_random(graphs: int, clients: int, _: GraphScheme, name: PartitionName, dataset: str) -> np.ndarray:
    return random_clients(graphs, clients, generator("graphs", dataset, clients, name.seed))


DEALS: dict[str, Callable[[int, int, GraphScheme, PartitionName, str], np.ndarray]] = {
    "chunks": _in_chunks,
    "random": _at_random,
}


def chunks(graphs: int, clients: int, chunk: int, seed: int) -> np.ndarray:
    """Return int64[graphs], each graph's client, as GCFL and FedStar deal them (``_randChunk``, no overlap).

    Client k gets the k-th run of min(chunk, graphs // clients) graphs in the raw order; each other graph goes to a
    client drawn evenly. The generator is NumPy's legacy one, so that the authors' clients come out.
    """
    size = min(chunk, graphs // clients)
    client = np.repeat(np.arange(clients), size)
    rest = np.random.RandomState(seed).randint(0, clients, size=graphs - client.size)
    return np.concatenate([client, rest]).astype(np.int64)
