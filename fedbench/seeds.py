"""Randomness derived per component and passed in; nothing here or elsewhere is seeded globally.

Every stream is named by what it is for (data set, partition, seed, client, round, ...), so the same
component always draws the same numbers, whatever ran before it or beside it.
"""

from __future__ import annotations

import hashlib

import numpy as np


def key(*components: str | int) -> tuple[int, int]:
    """Return a 128-bit key (two 64-bit words) for a named component.

    Components keep their type, so ``key("a", 1)`` and ``key("a", "1")`` differ.
    """
    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in components)
    words = np.frombuffer(hashlib.sha256(text.encode()).digest()[:16], dtype="<u8")
    return int(words[0]), int(words[1])


def generator(*components: str | int) -> np.random.Generator:
    """Return a NumPy generator for a named component (Philox, keyed by `key`)."""
    return np.random.Generator(np.random.Philox(key=np.array(key(*components), dtype=np.uint64)))


def integer(*components: str | int, below: int = 2**31) -> int:
    """Return one integer in ``[0, below)`` for a library that wants a plain seed."""
    return key(*components)[0] % below
