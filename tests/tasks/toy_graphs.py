"""Small graph-classification problems: clients of other widths, isolated nodes, continuous features."""

from __future__ import annotations

import numpy as np

from fedbench.tasks.graph.arrays import GraphProblem


def toy_graphs(
    widths: tuple[int, ...] = (3, 5, 4),
    classes: tuple[int, ...] = (2, 3, 2),
    graphs: int | tuple[int, ...] = 15,
    seed: int = 0,
) -> GraphProblem:
    """Random graphs of 1 to 9 nodes; one-hot features, but for the last client, whose features are continuous.

    ``graphs``: of each client, one number or one a client; all but 6 of them are for training.
    """
    random = np.random.default_rng(seed)
    counts = (graphs,) * len(widths) if isinstance(graphs, int) else graphs
    owner = np.repeat(np.arange(len(widths)), counts)
    sizes = random.integers(1, 10, len(owner))
    nodes = np.concatenate([[0], np.cumsum(sizes)])
    edges, ends, indptr, columns, values = [], [0], [0], [], []
    for g, size in enumerate(sizes):
        upper = np.triu(random.random((size, size)) < 0.35, k=1)
        pairs = np.argwhere(upper | upper.T) + nodes[g]
        edges.append(pairs)
        ends.append(ends[-1] + len(pairs))
        for _ in range(size):
            width = widths[owner[g]]
            dense = owner[g] == len(widths) - 1
            own = np.arange(width) if dense else random.integers(0, width, 1)
            columns.append(own)
            values.append(random.standard_normal(width) if dense else np.ones(1))
            indptr.append(indptr[-1] + len(own))
    data = {
        "x_indptr": np.array(indptr),
        "x_indices": np.concatenate(columns),
        "x_data": np.concatenate(values).astype(np.float32),
        "x_shape": np.array([nodes[-1], max(widths)]),
        "edges": np.concatenate(edges).T,
        "graph_indptr": nodes,
        "edge_indptr": np.array(ends),
        "y": np.array([random.integers(0, classes[owner[g]]) for g in range(len(sizes))]),
    }
    split = np.concatenate([random.permutation([0] * (count - 6) + [1] * 3 + [2] * 3) for count in counts])
    partition = {"client": owner, "graph": np.arange(len(sizes)), "split": split.astype(np.int8)}
    about = {"clients": len(widths), "features": list(widths), "classes": list(classes)}
    return GraphProblem(data, partition, about)
