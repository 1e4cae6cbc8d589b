"""One measured claim."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np


def _within_ten_percent(measured: float, claimed: float) -> bool:
    return abs(measured - claimed) <= 0.1 * abs(claimed)


RELATIONS: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "within 10% of": _within_ten_percent,
}
Relation = Literal["<=", ">=", "within 10% of"]
Statement = Literal["printed", "corrected", "misread", "check"]


@dataclass(frozen=True)
class Row:
    """A claim, what was measured, and the figure it is held against.

    ``statement`` says whose claim it is: ``printed`` (the paper's words or equation), ``corrected`` (what holds in its
    place), ``misread`` (a tempting reading that the paper doesn't make), ``check`` (the measure itself against an
    independent formula). ``holds`` follows from the figures and can't be set; NaN never holds.
    """

    theorem: str
    claim: str
    statement: Statement
    setting: str
    measured: float
    relation: Relation
    claimed: float

    @property
    def holds(self) -> bool:
        """Return whether ``measured`` stands in ``relation`` to ``claimed``."""
        return RELATIONS[self.relation](self.measured, self.claimed)


def norm(values: np.ndarray) -> float:
    """Return the Euclidean (for matrices: Frobenius) norm."""
    return float(np.linalg.norm(values))
