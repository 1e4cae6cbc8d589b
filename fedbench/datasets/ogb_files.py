"""The zip file of an Open Graph Benchmark node data set (Hu et al. 2020), read by the ``ogb`` package."""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from fedbench.datasets.raw import RawNodes, raw_nodes
from fedbench.errors import DataError
from fedbench.sources.formats import OgbFile

LABELS = "node-label.csv.gz"
PARTS = ("edge.csv.gz", "num-edge-list.csv.gz", "num-node-list.csv.gz", "node-feat.csv.gz", LABELS)


def load(folder: Path, loader: OgbFile) -> RawNodes:
    """Return the whole graph in OGB's node order, its edges without direction. OGB's own split is not read.

    Raises:
        DataError: the zip lacks a file, or has another number of graphs than one.
    """
    with tempfile.TemporaryDirectory(prefix="ogb-") as place:
        _unpack(folder / loader.file, f"{loader.folder}/raw", Path(place))
        graph = _graph(Path(place))
        y = np.loadtxt(Path(place) / LABELS, dtype=np.int64, ndmin=1)
    return raw_nodes(sparse.csr_matrix(graph["node_feat"], dtype=np.float32), y, graph["edge_index"])


def _unpack(path: Path, inside: str, out: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            for part in PARTS:
                with archive.open(f"{inside}/{part}") as stream, (out / part).open("wb") as target:
                    shutil.copyfileobj(stream, target)
    except (KeyError, zipfile.BadZipFile) as error:
        raise DataError(f"read {path}", found=str(error), remedy="fetch the file again") from error


def _graph(folder: Path) -> dict[str, Any]:
    """Return OGB's dictionary of the only graph; what its reader prints is dropped."""
    read = _reader()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        graphs = read(str(folder))
    if len(graphs) != 1:
        raise DataError(f"one graph in {folder}", found=f"{len(graphs)}", remedy="correct the loader in the catalogue")
    return dict(graphs[0])


def _reader() -> Callable[[str], list[dict[str, Any]]]:
    """Return ``read_csv_graph_raw``. Importing ogb takes seconds, so only here.

    If it finds the package ``outdated``, the import also asks pypi.org for a newer version; so it doesn't find it.
    """
    known = sys.modules.get("outdated")
    sys.modules["outdated"] = None  # type: ignore[assignment]
    try:
        from ogb.io.read_graph_raw import read_csv_graph_raw
    finally:
        del sys.modules["outdated"]
        sys.modules.update({"outdated": known} if known else {})
    return read_csv_graph_raw
