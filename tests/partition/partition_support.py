"""A small data set made on the spot, partitions of a data set file, and generators. Shared by this folder's tests."""

from pathlib import Path

import numpy as np

from fedbench.datasets.node import NodeDataset
from fedbench.partition.build import build_partition
from fedbench.partition.name import parse_name
from fedbench.partition.scheme import Scheme, load_scheme
from fedbench.partition.store import Partition

CONFIGS = Path(__file__).parents[2] / "configs"


def scheme_of(name: str) -> Scheme:
    return load_scheme(name, CONFIGS)


def built(text: str, dataset_file: Path, out: Path) -> Partition:
    name = parse_name(text)
    return build_partition(NodeDataset.read(dataset_file).name, name, scheme_of(name.scheme), dataset_file, out)


def rng(*seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def grid(side: int) -> NodeDataset:
    """Return a square grid of side * side nodes, class = column modulo 3, no features set."""
    number = np.arange(side * side).reshape(side, side)
    across, down = (number[:, :-1], number[:, 1:]), (number[:-1], number[1:])
    half = np.concatenate([[end.ravel() for end in across], [end.ravel() for end in down]], axis=1)
    edges = np.concatenate([half, half[::-1]], axis=1)
    edges = edges[:, np.lexsort((edges[1], edges[0]))]
    nodes = side * side
    meta = {"dataset": "grid", "task": "node", "nodes": nodes, "edges": half.shape[1], "features": 2, "classes": 3}
    empty = {"x_indices": np.zeros(0, np.int32), "x_data": np.zeros(0, np.float32), "x_shape": np.array([nodes, 2])}
    y = np.tile(np.arange(side) % 3, side)
    return NodeDataset(
        x_indptr=np.zeros(nodes + 1, np.int64), **empty, edges=edges, y=y, node_id=np.arange(nodes), meta=meta
    )
