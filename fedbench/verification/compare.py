"""Compare the figures of a stored record with those of a new one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

KEYS = ["seed", "client", "round", "split", "metric"]


@dataclass(frozen=True)
class Comparison:
    """``rows`` stored figures; ``missing`` of them are not in the new record, ``differing`` have another value."""

    rows: int
    missing: int
    differing: int
    largest: float

    def within(self, tolerance: float) -> bool:
        """Return whether every stored figure came out again, up to ``tolerance`` in the record's unit."""
        return self.rows > 0 and self.missing == 0 and self.largest <= tolerance


def compare(stored: pa.Table, new: pa.Table, seed: int) -> Comparison:
    """Compare one seed's stored figures (a bundle keeps only some) with a new record's; NaN equals NaN."""
    wanted = stored.filter(pc.field("seed") == seed)
    pairs = wanted.join(new, keys=KEYS, right_suffix="_new", join_type="inner")
    gaps = np.array([_gap(a, b) for a, b in zip(*_values(pairs), strict=True)])
    return Comparison(
        rows=wanted.num_rows,
        missing=wanted.num_rows - pairs.num_rows,
        differing=int(np.count_nonzero(gaps)),
        largest=float(gaps.max(initial=0.0)),
    )


def _values(pairs: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    return pairs["value"].to_numpy(), pairs["value_new"].to_numpy()


def _gap(a: float, b: float) -> float:
    if np.isnan(a) or np.isnan(b):
        return 0.0 if np.isnan(a) and np.isnan(b) else float("inf")
    return abs(float(a) - float(b))
