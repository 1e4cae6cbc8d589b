"""The GPUs of this machine, found without importing torch (which would fix the choice of device)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

PRETENDED = "FEDBENCH_GPUS"


def found_gpus() -> list[str]:
    """Return the GPUs' names as CUDA counts them: ``["0", "1"]``; none gives an empty list.

    The environment variable ``FEDBENCH_GPUS`` (``"0,2"``) restricts the choice, or pretends devices in a test.
    """
    named = os.environ.get(PRETENDED)
    return [name for name in named.split(",") if name] if named is not None else _listed()


def _listed() -> list[str]:
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    answer = subprocess.run([program, "-L"], capture_output=True, text=True, check=False, timeout=60)
    return re.findall(r"^GPU (\d+):", answer.stdout, flags=re.MULTILINE)
