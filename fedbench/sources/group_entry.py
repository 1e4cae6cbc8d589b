"""Catalogue entries of groups: several data sets of the task `graph` that are trained together."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from fedbench.settings import Settings


class GroupFile(Settings):
    """``configs/datasets/<name>.yaml`` of a group. Its members keep their own features and classes."""

    title: str
    task: Literal["graph"]
    source: str = Field(description="where the list of members comes from")
    members: tuple[str, ...] = Field(min_length=2, description="data sets, in the order of their clients")

    @field_validator("members")
    @classmethod
    def _different(cls, members: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(members)) < len(members):
            raise ValueError("a data set is named twice")
        return members
