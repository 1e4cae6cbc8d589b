"""Which figures of a column are printed bold and underlined."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Literal, TypeVar

Name = TypeVar("Name", bound=Hashable)


def marks(means: Mapping[Name, float], decimals: int, better: Literal["higher", "lower"] = "higher") -> dict[Name, str]:
    """Return ``best``, ``second`` or an empty string for each name; ``better`` says which end is best.

    Figures are compared as printed (``decimals``): equal ones share a mark. NaN (not run) gets none.
    """
    printed = {name: round(mean, decimals) for name, mean in means.items() if not math.isnan(mean)}
    leading = sorted(set(printed.values()), reverse=better == "higher")[:2]
    titles = dict(zip(leading, ("best", "second"), strict=False))
    return {name: titles.get(printed.get(name, math.nan), "") for name in means}
