"""Partition schemes: ``configs/partitions/<scheme>.yaml`` as typed settings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from fedbench.partition.kinds import (
    DirichletScheme,
    FileScheme,
    LouvainScheme,
    MetisScheme,
    OverlappingScheme,
    RandomScheme,
)
from fedbench.settings import Settings, parse, read_yaml

Scheme = MetisScheme | OverlappingScheme | LouvainScheme | DirichletScheme | RandomScheme | FileScheme


class _SchemeFile(Settings):
    """A scheme's file, read by its ``scheme``."""

    content: Annotated[Scheme, Field(discriminator="scheme")]


def load_scheme(name: str, configs: Path) -> Scheme:
    """Read ``configs/partitions/<name>.yaml``.

    Raises:
        ConfigurationError: no such scheme (names the nearest), or the file breaks its model.
    """
    path = configs / "partitions" / f"{name}.yaml"
    return parse(_SchemeFile, {"content": read_yaml(path)}, str(path)).content
