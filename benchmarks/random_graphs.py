"""Random clients of graph classification whose data have unlike widths, for machines without data."""

from __future__ import annotations

import numpy as np

from fedbench.tasks.graph.arrays import SPLIT_CODES, GraphProblem


def random_graphs(sizes: tuple[int, ...], nodes: int, seed: int = 0) -> GraphProblem:
    """Return clients of ``sizes`` graphs of up to ``nodes`` nodes: rings with one-hot features and random chords.

    Client k has 3 + k features and 2 + k % 3 classes; four of six graphs are for training.
    """
    random = np.random.default_rng(seed)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    counts = random.integers(3, nodes + 1, len(owner))
    starts = np.concatenate([[0], np.cumsum(counts)])
    edges = [_ring_with_chord(first, count, random) for first, count in zip(starts[:-1], counts, strict=True)]
    of_node = np.repeat(owner, counts)
    data = {
        "x_indptr": np.arange(starts[-1] + 1),
        "x_indices": random.integers(0, 3 + of_node),
        "x_data": np.ones(starts[-1], dtype=np.float32),
        "edges": np.concatenate(edges, axis=1),
        "graph_indptr": starts,
        "edge_indptr": np.concatenate([[0], np.cumsum([own.shape[1] for own in edges])]),
        "y": random.integers(0, 2 + owner % 3),
    }
    split = np.array([SPLIT_CODES[name] for name in ("train", "train", "val", "train", "test", "train")])
    partition = {"client": owner, "graph": np.arange(len(owner)), "split": split[np.arange(len(owner)) % len(split)]}
    clients = range(len(sizes))
    about = {"clients": len(sizes), "features": [3 + k for k in clients], "classes": [2 + k % 3 for k in clients]}
    return GraphProblem(data, partition, about)


def _ring_with_chord(first: int, count: int, random: np.random.Generator) -> np.ndarray:
    """Return both directions of each edge, int64[2, edges]."""
    ring = {(i, (i + 1) % count) for i in range(count)} | {tuple(random.choice(count, 2, replace=False).tolist())}
    pairs = sorted({(a, b) for i, j in ring for a, b in ((i, j), (j, i))})
    return np.array(pairs).T + first
