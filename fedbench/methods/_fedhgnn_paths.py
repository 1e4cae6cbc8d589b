"""Meta-paths over published pairs: users who share an item (U-I-U), items that share a user (I-U-I)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from scipy import sparse

from fedbench.tasks.rec.arrays import ClientPairs

_AT_ONCE = 256  # rows of a product of sparse matrices


@dataclass(frozen=True, kw_only=True)
class PathPairs(ClientPairs):
    """A client's pairs, and meta-path neighbours: ``user_paths`` [users, users] and ``item_paths`` [items, items]."""

    user_paths: sparse.csr_matrix
    item_paths: sparse.csr_matrix


def with_paths(clients: Sequence[ClientPairs], published: Sequence[np.ndarray], most: int) -> list[PathPairs]:
    """Return the clients with the neighbours that the server finds in what all of them published.

    Users are neighbours inside their client only, since their vectors never leave it; items are neighbours wherever a
    user of any client published both.

    Args:
        clients: their own pairs.
        published: int64[2, m] of each client, by its own numbers.
        most: neighbours of a node at most, those with the largest numbers of paths.
    """
    names = 1 + max(int(client.item_ids.max(initial=0)) for client in clients)
    rows = [_by_name(client, pairs, names) for client, pairs in zip(clients, published, strict=True)]
    everyone = sparse.csr_matrix(sparse.vstack(rows))
    return [
        PathPairs(
            **{field.name: getattr(client, field.name) for field in fields(ClientPairs)},
            user_paths=path_neighbours(own, most),
            item_paths=path_neighbours(sparse.csr_matrix(everyone[:, client.item_ids].T), most),
        )
        for client, own in zip(clients, rows, strict=True)
    ]


def _by_name(client: ClientPairs, pairs: np.ndarray, names: int) -> sparse.csr_matrix:
    ones = np.ones(pairs.shape[1], dtype=np.int32)
    return sparse.csr_matrix((ones, (pairs[0], client.item_ids[pairs[1]])), shape=(client.users, names))


def path_neighbours(matrix: sparse.csr_matrix, most: int) -> sparse.csr_matrix:
    """Return each row's neighbours, 0-1 [n, n]: itself, and the rows that share most columns; of equal ones the first.

    Args:
        matrix: 0-1 [n, m].
        most: neighbours of a row beside itself.
    """
    turned, nodes = sparse.csr_matrix(matrix.T), matrix.shape[0]
    parts = [_some_rows(matrix, turned, first, most) for first in range(0, nodes, _AT_ONCE)]
    rows, columns = (np.concatenate([np.arange(nodes), *part]) for part in zip(*parts, strict=True))
    return sparse.csr_matrix((np.ones(rows.size, dtype=np.int8), (rows, columns)), shape=(nodes, nodes))


def _some_rows(
    matrix: sparse.csr_matrix, turned: sparse.csr_matrix, first: int, most: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows from ``first`` on, and their neighbours beside themselves."""
    shared = sparse.csr_matrix(matrix[first : first + _AT_ONCE] @ turned)
    found = [_most_shared(shared, row, first + row, most) for row in range(shared.shape[0])]
    rows = np.repeat(np.arange(first, first + len(found)), [len(own) for own in found])
    return rows, np.concatenate(found)


def _most_shared(shared: sparse.csr_matrix, row: int, node: int, most: int) -> np.ndarray:
    """Return a row's columns of largest numbers, without ``node``; a partition takes less time than sorting."""
    own = slice(shared.indptr[row], shared.indptr[row + 1])
    columns = shared.indices[own].astype(np.int64)
    keys = shared.data[own] * np.int64(shared.shape[1]) - columns  # all different: of equal numbers the first leads
    other = columns != node
    columns, keys = columns[other], keys[other]
    return columns if columns.size <= most else columns[np.argpartition(-keys, most)[:most]]
