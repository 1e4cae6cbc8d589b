"""Keeps freed memory in the process, so that a step's tensors don't fault their pages in again each round.

Changes speed and memory only. Elsewhere than on Linux with glibc nothing here does anything.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from pathlib import Path

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_KEPT_BYTES = 1 << 30


@cache
def _glibc() -> ctypes.CDLL | None:
    library = ctypes.CDLL(None) if sys.platform.startswith("linux") else None
    return library if hasattr(library, "mallopt") and hasattr(library, "malloc_trim") else None


def keep_freed_memory() -> bool:
    """Tell glibc not to return freed blocks to the system by itself; return whether the setting was taken."""
    library = _glibc()
    if library is None:
        return False
    return bool(library.mallopt(_M_MMAP_THRESHOLD, 1 << 30) and library.mallopt(_M_TRIM_THRESHOLD, (1 << 31) - 1))


def return_freed_memory(above: int = _KEPT_BYTES) -> bool:
    """Return freed blocks to the system if the process holds more than ``above`` bytes; return whether it did.

    Kept blocks fragment over the rounds: without this a job of a few hundred megabytes can grow to gigabytes.
    """
    library = _glibc()
    if library is None or resident_bytes() <= above:
        return False
    library.malloc_trim(0)
    return True


def resident_bytes() -> int:
    """Return the resident set of this process."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
