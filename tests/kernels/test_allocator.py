"""Freed memory stays until there is too much of it."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import torch
from fedbench.kernels.allocator import keep_freed_memory, resident_bytes, return_freed_memory
assert keep_freed_memory()
before = resident_bytes()
blocks = [torch.ones(1 << 20) for _ in range(64)]
guard = torch.ones(1 << 12)
del blocks
kept = resident_bytes() - before
assert not return_freed_memory(above=1 << 40)
assert return_freed_memory(above=0)
print(kept >> 20, (resident_bytes() - before) >> 20)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc only")
def test_freed_blocks_are_kept_and_returned() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    kept, returned = map(int, done.stdout.split())
    assert kept > 200 and returned < 50
