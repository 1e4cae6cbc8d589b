"""A small data set of each task, and schemes by task."""

from pathlib import Path

import numpy as np
from partition_support import CONFIGS, grid

from fedbench.datasets.graph import GraphDataset
from fedbench.datasets.rec.raw import TEST, TRAIN
from fedbench.datasets.rec.store import RecDataset, pair_counts
from fedbench.partition.kinds import FileScheme
from fedbench.partition.rec.kinds import Groups
from fedbench.partition.scheme import Scheme, load_scheme

FEW = Groups(names=("Large", "Small"), sizes=(1, 3))


def _small(scheme: Scheme) -> Scheme:
    """Return the scheme with groups of four clients in all, where it has groups."""
    return scheme.model_copy(update={"groups": FEW}) if getattr(scheme, "groups", None) else scheme


FOUND = {path.stem: load_scheme(path.stem, CONFIGS) for path in sorted((CONFIGS / "partitions").glob("*.yaml"))}
SCHEMES = {name: _small(scheme) for name, scheme in FOUND.items() if not isinstance(scheme, FileScheme)}


def rings(sizes: list[int], y: list[int], features: int = 2, name: str = "rings") -> GraphDataset:
    """Return rings of ``sizes`` nodes (1: a node alone), node i with the feature i modulo ``features``."""
    start = np.concatenate([[0], np.cumsum(sizes)])
    ends = [(at, n, i) for at, n in zip(start[:-1], sizes, strict=True) if n > 2 for i in range(n)]
    pairs = [(at + i, at + (i + step) % n) for at, n, i in ends for step in (1, -1)]
    edges = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2).T
    nodes, classes = int(start[-1]), max(y) + 1
    counts = {"graphs": len(sizes), "nodes": nodes, "edges": edges.shape[1] // 2, "features": features}
    return GraphDataset(
        x_indptr=np.arange(nodes + 1),
        x_indices=(np.arange(nodes) % features).astype(np.int32),
        x_data=np.ones(nodes, np.float32),
        x_shape=np.array([nodes, features]),
        edges=edges,
        graph_indptr=start,
        edge_indptr=np.searchsorted(edges[0], start),
        y=np.array(y),
        meta={"dataset": name, "task": "graph", **counts, "classes": classes},
    )


def pairs() -> RecDataset:
    """Return 40 users and 40 items, in 4 planted groups."""
    user, item = np.divmod(np.arange(1600), 40)
    met = ((user + item) % 4 == 0) | ((user * 7 + item) % 23 == 0)
    user, item = user[met], item[met]
    split = np.where(np.arange(user.size) % 5 == 4, TEST, TRAIN).astype(np.int8)
    meta = {"dataset": "toy", "task": "rec", "users": 40, "items": 40, "pairs": pair_counts(split)}
    return RecDataset(user, item, split, meta=meta)


def write_each(folder: Path) -> dict[str, Path]:
    """Write a data set ``toy`` of each task, and return the files by task."""
    files = {task: folder / f"{task}.npz" for task in ("node", "graph", "rec")}
    node = grid(16)
    node.meta["dataset"] = "toy"
    node.write(files["node"])
    rings([3 + i % 4 for i in range(200)], [i % 2 for i in range(200)], name="toy").write(files["graph"])
    pairs().write(files["rec"])
    return files
