"""Compare a graph with the counts that the catalogue states."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fedbench.datasets.raw import RawNodes
from fedbench.errors import DataError


def node_counts(raw: RawNodes) -> dict[str, int]:
    """Return a graph's nodes, undirected edges, features and classes."""
    return {
        "nodes": raw.y.size,
        "edges": raw.edges.shape[1] // 2,
        "features": raw.x.shape[1],
        "classes": np.unique(raw.y).size,
    }


def check_counts(what: str, found: Mapping[str, int], expected: Mapping[str, int]) -> None:
    """Refuse a data set of which a count is not the expected one.

    Raises:
        DataError: lists each count that differs, found and expected.
    """
    wrong = [name for name, count in expected.items() if found[name] != count]
    if wrong:
        raise DataError(
            f"{what} with the counts of the catalogue",
            found=", ".join(f"{found[name]:,} {name}" for name in wrong),
            allowed=", ".join(f"{expected[name]:,} {name}" for name in wrong),
            remedy="correct the catalogue if the source has changed; otherwise the loader is at fault",
        )
