"""One GPU per process: a lease that the operating system ends when the process ends, however it ends.

Snakemake counts GPUs but tells no job which one is its own. Each process therefore takes an exclusive lock on a file
per device and shows torch that device alone. A lock belongs to an open file, so a killed process leaves none behind.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from fedbench.devices.found import found_gpus
from fedbench.errors import ConfigurationError

VISIBLE = "CUDA_VISIBLE_DEVICES"
POLL_SECONDS = 0.2


def lease_folder() -> Path:
    """Return the folder of the lock files, one per user and machine."""
    return Path(tempfile.gettempdir()) / f"fedbench-gpus-{os.getuid()}"


@contextmanager
def lease_gpu(folder: Path | None = None, devices: Sequence[str] | None = None) -> Iterator[str]:
    """Hold one GPU and yield its name; enter before torch is imported, which reads ``CUDA_VISIBLE_DEVICES`` once.

    A ``CUDA_VISIBLE_DEVICES`` that is already set (a cluster's scheduler sets it) is respected and no lease is taken.
    When every device is taken, waits until one is free.

    Args:
        folder: where the lock files lie; `lease_folder` if absent.
        devices: names of the devices to choose from; `found_gpus` if absent.

    Raises:
        ConfigurationError: this machine has no GPU.
    """
    if VISIBLE in os.environ:
        yield os.environ[VISIBLE]
        return
    names = found_gpus() if devices is None else devices
    if not names:
        raise ConfigurationError(
            "train on cuda", found="no GPU on this machine", remedy="use --device cpu (--config device=cpu)"
        )
    with ExitStack() as stack:
        name = _first_free(names, folder or lease_folder(), stack)
        os.environ[VISIBLE] = name
        stack.callback(os.environ.pop, VISIBLE, None)
        yield name


def _first_free(names: Sequence[str], folder: Path, stack: ExitStack) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    while True:
        for name in names:
            lock = (folder / f"gpu{name}.lock").open("a")
            if _locked(lock):
                stack.enter_context(lock)
                return name
            lock.close()
        time.sleep(POLL_SECONDS)


def _locked(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
