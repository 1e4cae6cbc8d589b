"""Communities packed into owners of nearly equal size, as FedSage's ``louvain_networkx.py`` does."""

from __future__ import annotations

from collections import deque

import numpy as np

from fedbench.errors import DataError

Group = np.ndarray  # int64[k], nodes, ascending


def cut_long(groups: list[Group], most: int) -> list[Group]:
    """Return the groups, those of more than ``most`` nodes cut into pieces of ``most`` and a rest."""
    return [group[start : start + most] for group in groups for start in range(0, group.size, most)]


def packed(groups: list[Group], owners: int, delta: int) -> list[Group]:
    """Return the nodes of each owner; of N nodes none gets ``N // owners + delta`` or more.

    The largest group first, each to an owner that `_taker` names. Where no owner in turn can take a group, the released
    code never ends; here the owner with the fewest nodes takes what it has room for, and the rest is dealt with next.
    """
    fair = sum(group.size for group in groups) // owners
    held: list[list[int]] = [[] for _ in range(owners)]
    turn, waiting = deque(range(owners)), deque(sorted(groups, key=len, reverse=True))
    while waiting:
        group = waiting.popleft()
        owner = _taker(group.size, turn, [len(nodes) for nodes in held], fair, fair + delta)
        room = fair + delta - 1 - len(held[owner])
        held[owner] += group[:room].tolist()
        if group.size > room:
            waiting.appendleft(group[room:])
    return [np.array(sorted(nodes), dtype=np.int64) for nodes in held]


def _taker(size: int, turn: deque[int], held: list[int], fair: int, cap: int) -> int:
    """Return the owner whose turn it is, or the next in turn that stays below ``cap``; ``turn`` moves on to it.

    An owner that holds ``fair`` nodes when its turn comes leaves the turn.
    """
    while turn and held[turn[0]] >= fair:
        turn.popleft()
    for _ in range(len(turn)):
        if held[turn[0]] + size < cap:
            return turn[0]
        turn.rotate(-1)
    return held.index(min(held))


def with_every_class(client: np.ndarray, y: np.ndarray, clients: int, least: int) -> np.ndarray:
    """Return int64[n], each node's client, after moving as few nodes as it takes to give each ``least`` of every class.

    The last node of the class in the client that has most of them moves to the one that has fewest. (The released code
    takes a node from every owner that can spare one, and stops short of two where only one can.)

    Raises:
        DataError: a class has too few nodes.
    """
    client = client.copy()
    for label in np.unique(y):
        nodes = np.flatnonzero(y == label)
        _refuse_rare(int(label), nodes.size, clients, least)
        while (count := np.bincount(client[nodes], minlength=clients)).min() < least:
            spare = nodes[client[nodes] == count.argmax()]
            client[spare[-1]] = count.argmin()
    return client


def _refuse_rare(label: int, nodes: int, clients: int, least: int) -> None:
    if nodes < clients * least:
        raise DataError(
            f"{least} nodes of every class in each of {clients} clients",
            found=f"{nodes} nodes of class {label}",
            allowed=f"at least {clients * least}",
            remedy="ask for fewer clients, or lower the scheme's per_class",
        )
