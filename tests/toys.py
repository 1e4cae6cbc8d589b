"""Small problems whose every number can be checked by hand."""

from __future__ import annotations

import numpy as np

from fedbench.tasks.node.arrays import NodeProblem


def toy_problem(
    sizes: tuple[int, ...] = (17, 24, 11), *, classes: int = 4, width: int = 12, seed: int = 0
) -> NodeProblem:
    """A random graph over clients of the given sizes, with edges inside and between clients, sparse features."""
    random = np.random.default_rng(seed)
    nodes = sum(sizes)
    upper = np.triu(random.random((nodes, nodes)) < 0.12, k=1)
    edges = np.stack(np.nonzero(upper | upper.T))
    dense = np.where(random.random((nodes, width)) < 0.4, random.random((nodes, width)), 0.0).astype(np.float32)
    rows, columns = np.nonzero(dense)
    client = np.repeat(np.arange(len(sizes)), sizes)
    data = {
        "x_indptr": np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=nodes))]),
        "x_indices": columns.astype(np.int32),
        "x_data": dense[rows, columns],
        "x_shape": np.array([nodes, width]),
        "edges": edges,
        "y": random.integers(0, classes, nodes),
        "node_id": np.arange(nodes),
    }
    split = np.concatenate([random.permutation(np.arange(size) % 3) for size in sizes]).astype(np.int8)
    partition = {"client": client, "node": np.arange(nodes), "split": split}
    return NodeProblem(data, partition, len(sizes), classes)
