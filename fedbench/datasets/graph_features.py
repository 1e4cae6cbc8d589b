"""Node features of the task `graph`, as GCFL's, FedStar's and FedSSP's code makes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from fedbench.datasets.raw_graphs import RawGraphs
from fedbench.errors import DataError
from fedbench.sources.graph_entry import AttributeFeatures, DegreeFeatures, GraphFeatures, LabelFeatures


def node_features(raw: RawGraphs, settings: GraphFeatures) -> sparse.csr_matrix:
    """Return float32 CSR [n, d].

    Raises:
        DataError: the loader has read no such thing, or a node's degree is larger than the settings allow.
    """
    return KINDS[settings.kind](raw, settings)


def _labels(raw: RawGraphs, settings: LabelFeatures) -> sparse.csr_matrix:
    """PyG's: the smallest label is column 0, and a label between that no node has is a column of zeros."""
    labels = _given(raw.node_labels, settings.kind)
    return _one_hot(labels - labels.min(), int(labels.max() - labels.min()) + 1)


def _attributes(raw: RawGraphs, settings: AttributeFeatures) -> sparse.csr_matrix:
    return sparse.csr_matrix(_given(raw.node_attributes, settings.kind), dtype=np.float32)


def _degrees(raw: RawGraphs, settings: DegreeFeatures) -> sparse.csr_matrix:
    """PyG's ``OneHotDegree(largest, cat=False)``."""
    degrees = np.bincount(raw.edges[0], minlength=raw.nodes)
    if degrees.max() > settings.largest:
        raise DataError(
            "one-hot degrees",
            found=f"a node with {degrees.max():,} neighbours",
            allowed=f"at most {settings.largest:,}",
            remedy="correct features.largest in the catalogue",
        )
    return _one_hot(degrees, settings.largest + 1)


KINDS: dict[str, Callable[[RawGraphs, Any], sparse.csr_matrix]] = {
    "labels": _labels,
    "attributes": _attributes,
    "degree": _degrees,
}


def _one_hot(column: np.ndarray, width: int) -> sparse.csr_matrix:
    ones = np.ones(column.size, np.float32)
    return sparse.csr_matrix((ones, column, np.arange(column.size + 1)), (column.size, width))


def _given(values: np.ndarray | None, kind: str) -> np.ndarray:
    if values is None:
        raise DataError(
            f"features from node {kind}", found="the loader reads none", remedy=f"add `nodes: {kind}` to the loader"
        )
    return values
