"""METIS, k-way."""

from __future__ import annotations

import numpy as np
import pymetis

from fedbench.errors import DataError


def metis_clients(edges: np.ndarray, nodes: int, clients: int, seed: int) -> np.ndarray:
    """Return int64[nodes], each node's client.

    ``recursive=False`` because pymetis takes recursive bisection for up to 8 parts, while the papers' k-way cut is
    METIS's own default.

    Args:
        edges: int64[2, E], both directions, sorted by (source, target).
        nodes: number of nodes.
        clients: number of parts.
        seed: METIS's seed, below 2**31.

    Raises:
        DataError: METIS left a part empty.
    """
    if clients == 1:
        return np.zeros(nodes, dtype=np.int64)
    xadj = np.searchsorted(edges[0], np.arange(nodes + 1))
    options = pymetis.Options(seed=seed)
    adjacency = pymetis.CSRAdjacency(xadj, edges[1])
    cut = pymetis.part_graph(clients, adjacency, recursive=False, options=options)
    parts = np.asarray(cut.vertex_part, dtype=np.int64)
    empty = np.flatnonzero(np.bincount(parts, minlength=clients) == 0)
    if empty.size:
        raise DataError(
            f"{clients} METIS parts of {nodes:,} nodes",
            found=f"METIS left {empty.size} of them without nodes",
            allowed="at least one node in every part",
            remedy="ask for fewer clients, or take another partition seed (<scheme>-<clients>-s<seed>)",
        )
    return parts
