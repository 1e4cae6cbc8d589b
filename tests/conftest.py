"""Settings of every test: one thread a process, since the machine's cores run several tests at once."""

from __future__ import annotations

import os
import sys

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(autouse=True)
def _ordinary_arithmetic() -> None:
    """Undo what a training job sets for its process: subnormal numbers count as 0 in it, but not in the next test."""
    if "torch" in sys.modules:
        sys.modules["torch"].set_flush_denormal(False)
