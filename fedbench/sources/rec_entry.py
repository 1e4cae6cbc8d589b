"""Catalogue entries of the task `rec`: who took what. A set with its sources, or another split of a set's pairs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fedbench.settings import Settings
from fedbench.sources.kinds import Source
from fedbench.sources.rec_split import RecSplit

Order = Literal["official", "content"]


class RawPairCounts(Settings):
    """What the raw files hold, repeated pairs counted once."""

    users: int
    items: int
    train: int = Field(description="pairs that are not given as test pairs")
    test: int = Field(0, description="given test pairs")


class SplitCounts(Settings):
    """What the data set file holds. What is None isn't known, so it isn't checked."""

    users: int
    items: int
    train: int | None = None
    val: int | None = None
    test: int


class RecDatasetFile(Settings):
    """``configs/datasets/<name>.yaml`` with ``task: rec``."""

    title: str
    task: Literal["rec"]
    citation: str
    licence: str
    order: Order = Field("official", description="users and items by the raw files' ids, or by content alone")
    raw: RawPairCounts
    split: RecSplit
    counts: SplitCounts
    sources: tuple[Source, ...] = Field(min_length=1, description="tried in this order")

    @property
    def size(self) -> float:
        """Return the number of pairs that aren't given for the test."""
        return self.raw.train


class RecSplitFile(Settings):
    """``configs/datasets/<name>.yaml`` of another split of a set's pairs."""

    title: str
    split_of: str
    split: RecSplit
    counts: SplitCounts
