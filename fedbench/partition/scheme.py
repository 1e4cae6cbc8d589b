"""Partition schemes: ``configs/partitions/<scheme>.yaml`` as typed settings. A scheme is of one task."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from fedbench.partition.graphs.kinds import GraphScheme
from fedbench.partition.kinds import NodeScheme
from fedbench.partition.rec.kinds import CoScheme
from fedbench.settings import Settings, parse, read_yaml

Scheme = NodeScheme | GraphScheme | CoScheme


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
