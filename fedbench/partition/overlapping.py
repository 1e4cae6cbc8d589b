"""FED-PUB's overlapping clients: METIS parts, and several draws of half of each part's nodes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fedbench.errors import DataError
from fedbench.partition.kinds import OverlappingScheme


def parts_of(clients: int, draws: int) -> int:
    """Return the number of METIS parts for ``clients`` clients, ``draws`` of each part.

    Raises:
        DataError: the clients are not a multiple of the draws.
    """
    if clients % draws:
        below = clients - clients % draws
        raise DataError(
            f"{clients} overlapping clients",
            found=f"{clients} is no multiple of {draws}, the draws of one part",
            allowed=f"a multiple of {draws}",
            remedy=f"ask for {f'{below} or ' if below else ''}{below + draws} clients",
        )
    return clients // draws


def overlapping_clients(
    part: np.ndarray, scheme: OverlappingScheme, draw: Callable[[int, int], np.random.Generator]
) -> tuple[np.ndarray, np.ndarray]:
    """Return int64[m] and int64[m], client and node of each membership, sorted by (client, node).

    Client ``part * draws + draw`` has ``share`` of the part's nodes (rounded down), drawn without replacement and
    independently of the other draws, as in FED-PUB's ``overlapping.py``: a node may be in several clients or in none.

    Args:
        part: int64[n], the METIS part of each node.
        scheme: draws and share.
        draw: the generator of a part and draw.

    Raises:
        DataError: a part is so small that a draw of it is empty.
    """
    held = []
    for number in range(int(part.max()) + 1):
        nodes = np.flatnonzero(part == number)
        size = int(scheme.share * nodes.size)
        _refuse_empty(size, nodes.size)
        held += [np.sort(draw(number, i).choice(nodes, size, replace=False)) for i in range(scheme.draws)]
    return np.repeat(np.arange(len(held)), [nodes.size for nodes in held]), np.concatenate(held)


def _refuse_empty(size: int, nodes: int) -> None:
    if size == 0:
        raise DataError(
            "overlapping clients",
            found=f"a METIS part of {nodes} nodes, of which a draw takes none",
            allowed="at least one node in every client",
            remedy="ask for fewer clients, or take another partition seed (<scheme>-<clients>-s<seed>)",
        )
