"""Compare a graph with the counts that the catalogue states."""

from __future__ import annotations

import numpy as np

from fedbench.datasets.raw import RawNodes
from fedbench.errors import DataError


def check_counts(what: str, raw: RawNodes, expected: dict[str, int]) -> None:
    """Refuse a graph whose nodes, undirected edges, features or classes are not the expected ones.

    Raises:
        DataError: lists each count that differs, found and expected.
    """
    found = {
        "nodes": raw.y.size,
        "edges": raw.edges.shape[1] // 2,
        "features": raw.x.shape[1],
        "classes": np.unique(raw.y).size,
    }
    wrong = [name for name, count in expected.items() if found[name] != count]
    if wrong:
        raise DataError(
            f"{what} with the counts of the catalogue",
            found=", ".join(f"{found[name]:,} {name}" for name in wrong),
            allowed=", ".join(f"{expected[name]:,} {name}" for name in wrong),
            remedy="correct the catalogue if the source has changed; otherwise the loader is at fault",
        )
