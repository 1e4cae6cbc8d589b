"""GF-CF on all clients' pairs: see `tests.reference.methods.gfcf`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.reference.methods.gfcf import scores
from tests.reference.rec import RecTrace, ranked

TASKS = ("rec",)
USERS_AND_ITEMS = (90, 180)
CASES = ({"vectors": 6},)


def rec(method: Any, problem: Any, seed: int) -> RecTrace:
    """Users are ranked among their own clients' items."""
    own, cut = method.settings, problem.partition
    whole = scores(problem.pooled_data().taken.toarray(), own.vectors, own.alpha)
    return ranked(problem, [whole[np.ix_(cut.users_of(k), cut.items_of(k))] for k in range(problem.clients)])
