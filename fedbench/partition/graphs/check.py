"""Invariants that every partition of graphs satisfies before it is written."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fedbench.errors import DataError
from fedbench.partition.check import within
from fedbench.partition.graphs.store import SPLIT_NAMES, GraphPartition
from fedbench.partition.name import PartitionName


def check_graph_partition(partition: GraphPartition, member: np.ndarray) -> None:
    """Refuse a partition that breaks an invariant.

    Args:
        partition: what to check.
        member: int64[G], the data set of each graph.

    Raises:
        DataError: names every broken invariant.
    """
    broken = list(_broken(partition, member))
    if broken:
        raise DataError(
            f"a valid partition of {partition.meta['dataset']}",
            found="; ".join(broken),
            allowed="each graph in one client; each client of one data set, with graphs of every split; entries sorted "
            "by (client, graph)",
            remedy="a scheme at fault: correct it and run `fedbench partition` again",
        )


def _broken(partition: GraphPartition, member: np.ndarray) -> Iterator[str]:
    client, graph, split, clients = partition.client, partition.graph, partition.split, partition.clients
    if not np.array_equal(np.sort(graph), np.arange(member.size)):
        yield "a graph in no client, in several, or out of range"
        return
    if not (within(client, clients) and within(split, len(SPLIT_NAMES))):
        yield "a client or split number out of range"
        return
    if (np.diff(client * member.size + graph) <= 0).any():
        yield "entries out of order"
    count = np.zeros((clients, len(SPLIT_NAMES)), dtype=np.int64)
    np.add.at(count, (client, split), 1)
    for number, of in np.argwhere(count == 0):
        yield f"client {number} without {SPLIT_NAMES[of]} graphs"
    if np.unique(np.stack([client, member[graph]]), axis=1).shape[1] > clients:
        yield "a client with graphs of several data sets"


def check_graph_clients(name: PartitionName, sizes: list[int], dataset: str) -> None:
    """Refuse a number of clients that M data sets of ``sizes`` graphs can't have alike.

    Raises:
        DataError: says which numbers there may be.
    """
    members, most = len(sizes), min(sizes)
    if name.clients % members or name.clients > members * most:
        raise DataError(
            f"{name.clients:,} clients of {dataset}",
            found=f"{members} data set{'s' * (members > 1)}, the smallest of {most:,} graphs",
            allowed=f"a multiple of {members}, at most {members * most:,}, so that each data set has as many clients",
            remedy=f"ask for {members} clients, or a multiple",
        )
