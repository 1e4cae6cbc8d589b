"""How user-item pairs are split, as typed settings. The catalogue names their origins."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fedbench.settings import Settings


class Validation(Settings):
    """Validation pairs, taken from each user's training pairs: max(1, floor(ratio * n)) of n >= 2; of one, none.

    The count is that of LPSFed's released code, which draws it in each client after the cut, so that edges which
    validate have shaped the clients. Drawing before the cut, from all of a user's training pairs, is inferred.
    Published LightGCN figures use no validation pairs (ratio 0).
    """

    ratio: float = Field(0.0, ge=0, lt=1, description="share of a user's training pairs, rounded down; 0: none")
    seed: int = Field(0, ge=0, description="of the draw")


class OfficialSplit(Settings):
    """The test pairs that the raw files give."""

    name: Literal["lightgcn_official"]
    validation: Validation = Validation()


class LpsfedSplit(Settings):
    """LPSFed's nine to one: of each user's n >= 2 pairs max(1, floor(test_ratio * n)) at random; of one, none.

    The rule and its random numbers (Python's ``random``, seed 42) are those of the released ``preprocessing.py``.
    """

    name: Literal["lpsfed_9_1"]
    pool: Literal["train_only", "train_plus_test"] = Field(
        "train_plus_test",
        description="what is split: the given train files (the authors' Gowalla), or everything (their other sets)",
    )
    user_least: int = Field(0, ge=0, description="users of fewer pairs are dropped; once, unless `drop` is core")
    item_least: int = Field(0, ge=0, description="items of fewer pairs are dropped; once, unless `drop` is core")
    # Left out of data set files where it is the default: files that lack the setting keep their sums.
    drop: Literal["users_then_items", "core"] = Field(
        "users_then_items",
        description="users_then_items: in this order, each once (LPSFed's `remove_cold_items`); core: both together, "
        "until none of too few pairs is left (`dataset_filtering` of LCFN's movielens.py, from whose files LPSFed's "
        "MovieLens-1M is)",
        exclude_if=lambda drop: drop == "users_then_items",
    )
    held_back: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="share of each user's pairs that is in no split, rounded to the nearest number, half to even: "
        "LCFN's validation pairs (`dataset_split`), which LPSFed's MovieLens-1M lacks. Which pairs is inferred, an "
        "even draw: LCFN's is not seeded, and leaves 15 pairs of every item for training",
        exclude_if=lambda share: share == 0,
    )
    test_ratio: float = Field(0.1, gt=0, lt=1)
    seed: int = Field(42, ge=0)
    validation: Validation = Validation(ratio=0.1)


RecSplit = Annotated[OfficialSplit | LpsfedSplit, Field(discriminator="name")]
