"""LINQS files (Sen et al. 2008): one paper a line (id, features, class name), and one citation a line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import sparse

from fedbench.datasets.raw import RawNodes, raw_nodes
from fedbench.errors import DataError
from fedbench.sources.formats import LinqsFiles


def load(folder: Path, loader: LinqsFiles) -> RawNodes:
    """Return the whole graph, nodes in the order of the ``.content`` file's lines.

    Features keep the file's column order and classes the catalogue's order, which make them Planetoid's.

    Raises:
        DataError: a class is not in the catalogue's list, or a citation names an unknown paper.
    """
    lines = (folder / f"{loader.prefix}.content").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    papers, names = [row[0] for row in rows], [row[-1] for row in rows]
    x = np.array([row[1:-1] for row in rows], dtype=np.float32)
    cites = np.loadtxt(folder / f"{loader.prefix}.cites", dtype=str)
    y = _numbers(names, list(loader.classes), "class")
    return raw_nodes(sparse.csr_matrix(x), y, _numbers(cites.ravel().tolist(), papers, "paper").reshape(-1, 2).T)


def _numbers(names: list[str], known: list[str], what: str) -> np.ndarray:
    number = {name: place for place, name in enumerate(known)}
    unknown = sorted(set(names) - set(number))
    if unknown:
        raise DataError(
            f"the number of each {what} of the LINQS files",
            found=f"unknown {what} {', '.join(unknown[:5])}",
            allowed=f"one of {len(known)} known",
            remedy="correct the loader's classes in the catalogue",
        )
    return np.array([number[name] for name in names], dtype=np.int64)
