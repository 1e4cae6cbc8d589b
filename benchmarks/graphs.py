"""Data set and partition files for benchmarks: the peer's Cora, the suite's Cora, and synthetic graphs of any size."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.measure import run_process
from benchmarks.place import ROOT
from fedbench.files import sha256_of, write_arrays

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Problem:
    """A data set file and a partition file in fedbench's formats (docs/architecture.md)."""

    dataset: Path
    partition: Path

    def remove(self) -> None:
        """Delete both files."""
        self.dataset.unlink()
        self.partition.unlink()


def from_peer(exported: Path, folder: Path) -> Problem:
    """Convert what `run_openfgl.py --export` wrote: the same graph, features, clients and splits."""
    with np.load(exported) as archive:
        arrays = dict(archive)
    data = node_data(sp.csr_matrix(arrays["x"]), arrays["edges"], arrays["y"])
    partition = {name: arrays[name] for name in ("client", "node", "split")}
    return write_problem(folder, "peer-cora", data, partition)


def node_data(x: sp.csr_matrix, edges: np.ndarray, y: np.ndarray) -> Arrays:
    """Return the arrays of a data set file: edges sorted by (source, target), each once, both directions."""
    x.sort_indices()
    ordered = np.unique(edges.astype(np.int64), axis=1)
    return {
        "x_indptr": x.indptr.astype(np.int64),
        "x_indices": x.indices.astype(np.int32),
        "x_data": x.data.astype(np.float32),
        "x_shape": np.array(x.shape, dtype=np.int64),
        "edges": ordered,
        "y": y.astype(np.int64),
        "node_id": np.arange(len(y), dtype=np.int64),
    }


def write_problem(folder: Path, name: str, data: Arrays, partition: Arrays) -> Problem:
    """Write both files with the descriptions that fedbench expects."""
    problem = Problem(folder / f"{name}.npz", folder / f"{name}-partition.npz")
    order = np.lexsort((partition["node"], partition["client"]))
    write_arrays(problem.dataset, data, _about(name, data))
    cut = _cut(name, partition, sha256_of(problem.dataset))
    write_arrays(problem.partition, {key: column[order] for key, column in partition.items()}, cut)
    return problem


def _about(name: str, data: Arrays) -> dict[str, Any]:
    return {
        "dataset": name,
        "task": "node",
        "nodes": len(data["y"]),
        "edges": data["edges"].shape[1] // 2,
        "features": int(data["x_shape"][1]),
        "classes": int(data["y"].max()) + 1,
    }


def _cut(name: str, partition: Arrays, digest: str) -> dict[str, Any]:
    clients = int(partition["client"].max()) + 1
    return {"dataset": name, "dataset_digest": digest, "scheme": "file", "clients": clients, "seed": 0, "settings": {}}


def synthetic(folder: Path, clients: int, nodes: int, *, features: int = 1433, classes: int = 7) -> Problem:
    """Write ``clients`` graphs of ``nodes`` nodes each, shaped like Cora: degree 4, 18 features a node, 20/40/40."""
    random = np.random.default_rng(clients * 1_000_003 + nodes)
    total = clients * nodes
    client = np.repeat(np.arange(clients), nodes)
    partition = {
        "client": client,
        "node": np.arange(total),
        "split": random.choice(np.array([0, 1, 2], dtype=np.int8), total, p=[0.2, 0.4, 0.4]),
    }
    data = node_data(_bags(random, total, features), _edges(random, client, nodes), random.integers(0, classes, total))
    return write_problem(folder, f"synthetic-{clients}x{nodes}", data, partition)


def _bags(random: np.random.Generator, rows: int, features: int, words: int = 18) -> sp.csr_matrix:
    """Return a 0/1 matrix with about ``words`` ones a row, row-normalised."""
    columns = np.sort(random.integers(0, features, (rows, words)), axis=1)
    values = np.full(rows * words, 1.0 / words, dtype=np.float32)
    matrix = sp.csr_matrix((values, columns.ravel(), np.arange(rows + 1) * words), (rows, features))
    matrix.sum_duplicates()
    return matrix


def _edges(random: np.random.Generator, client: np.ndarray, nodes: int) -> np.ndarray:
    """Return two random neighbours a node inside its client, in both directions, without self-loops."""
    source = np.tile(np.arange(len(client)), 2)
    shift = random.integers(1, nodes, len(source))
    target = client[source] * nodes + (source % nodes + shift) % nodes
    return np.concatenate([np.stack([source, target]), np.stack([target, source])], axis=1)


def cora(folder: Path, partition: str = "metis-10") -> Problem:
    """Make the suite's Cora (largest component) and a partition of it as its own commands do, unless they are there."""
    return real("cora", folder, partition)


def gowalla(folder: Path) -> Problem:
    """Make Gowalla (LightGCN's split) and its partition into one client, unless they are there."""
    return real("gowalla", folder, "whole-1")


def real(name: str, folder: Path, partition: str) -> Problem:
    """Make a data set of the catalogue and a partition of it by the suite's own commands, unless they are there."""
    problem = Problem(folder / f"{name}.npz", folder / f"{name}-{partition}.npz")
    raw, configs = folder / "raw", ["--configs", str(ROOT / "configs")]
    if not problem.dataset.exists():
        _fedbench("fetch", name, "--out", str(raw), *configs)
        _fedbench("dataset", name, "--raw", str(raw), "--out", str(problem.dataset), *configs)
    if not problem.partition.exists():
        files = ["--dataset-file", str(problem.dataset), "--out", str(problem.partition)]
        _fedbench("partition", name, partition, *files, *configs)
    return problem


def _fedbench(*words: str) -> None:
    run_process([sys.executable, "-m", "fedbench.cli", *words], {"PYTHONPATH": str(ROOT)})
