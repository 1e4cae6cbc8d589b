"""Versions of what computed a record."""

from __future__ import annotations

import platform
from importlib.metadata import version

import fedbench

_COMPUTING = ("torch", "numpy")


def versions() -> dict[str, str]:
    """Return the versions of fedbench, Python, and the libraries that compute figures."""
    libraries = {name: version(name) for name in _COMPUTING}
    return {"fedbench": fedbench.__version__, "python": platform.python_version(), **libraries}
