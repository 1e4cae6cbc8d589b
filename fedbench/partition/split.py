"""Which nodes train, validate and test: one draw over the whole graph, or one in each client."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fedbench.partition.kinds import SplitSettings
from fedbench.partition.store import TEST, TRAIN, VAL


def drawn_split(nodes: int, settings: SplitSettings, draw: np.random.Generator) -> np.ndarray:
    """Return int8[nodes], each node's split.

    Of one random permutation the first part trains, the next tests, the rest validates. Part sizes are rounded to
    whole numbers (halves to even, as Python's ``round`` in FED-PUB's code).
    """
    train, test = round(settings.train * nodes), round(settings.test * nodes)
    order = draw.permutation(nodes)
    split = np.full(nodes, VAL, dtype=np.int8)
    split[order[:train]] = TRAIN
    split[order[train : train + test]] = TEST
    return split


def per_client_split(
    client: np.ndarray, settings: SplitSettings, draw: Callable[[int], np.random.Generator]
) -> np.ndarray:
    """Return int8[m], the split of each membership: one `drawn_split` in each client.

    Args:
        client: int64[m], the client of each membership.
        settings: shares.
        draw: the generator of a client; a client's split depends on its number of nodes and this alone.
    """
    split = np.empty(client.size, dtype=np.int8)
    for number, nodes in enumerate(np.bincount(client)):
        split[client == number] = drawn_split(int(nodes), settings, draw(number))
    return split
