"""Keeps freed memory in the process, so that a step's tensors don't fault their pages in again each round."""

from __future__ import annotations

import ctypes
import sys

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


def keep_freed_memory() -> bool:
    """Tell glibc not to return freed blocks to the system; return whether the setting was taken.

    Changes speed only. Elsewhere than on Linux with glibc it does nothing and returns False.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:  # a C library without mallopt, musl for example
        return False
    return bool(mallopt(_M_MMAP_THRESHOLD, 1 << 30) and mallopt(_M_TRIM_THRESHOLD, (1 << 31) - 1))
