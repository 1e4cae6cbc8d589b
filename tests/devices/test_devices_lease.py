"""Leases never overlap, wait their turn, and end with the process."""

import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fedbench.devices.found import found_gpus
from fedbench.devices.lease import VISIBLE, lease_gpu
from fedbench.errors import ConfigurationError

WORKER = """
import sys, time
from pathlib import Path
from fedbench.devices.lease import lease_gpu
with lease_gpu(Path(sys.argv[1])) as gpu:
    start = time.monotonic()
    time.sleep(float(sys.argv[2]))
    print(gpu, start, time.monotonic(), flush=True)
"""


def _start(folder: Path, seconds: float) -> subprocess.Popen:
    environment = {name: value for name, value in os.environ.items() if name != VISIBLE}
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, str(folder), str(seconds)],
        env={**environment, "FEDBENCH_GPUS": "0,1,2"},
        stdout=subprocess.PIPE,
        text=True,
    )


def _wait_until_all_taken(folder: Path) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if len(list(folder.glob("gpu*.lock"))) == 3:
            return
        time.sleep(0.02)
    raise AssertionError("no process took a lease")


def test_eighteen_processes_share_three_devices_without_overlap(tmp_path):
    processes = [_start(tmp_path, 0.1) for _ in range(18)]
    lines = [process.communicate(timeout=60)[0].split() for process in processes]
    spans = sorted((gpu, float(start), float(end)) for gpu, start, end in lines)
    assert {gpu for gpu, *_ in spans} == {"0", "1", "2"}
    for (gpu, _, end), (other, start, _) in itertools.pairwise(spans):
        assert gpu != other or end <= start


def test_a_killed_process_frees_its_device(tmp_path):
    holders = [_start(tmp_path, 60) for _ in range(3)]
    _wait_until_all_taken(tmp_path)
    time.sleep(0.3)
    waiting = _start(tmp_path, 0)
    time.sleep(0.5)
    assert waiting.poll() is None
    holders[1].send_signal(signal.SIGKILL)
    gpu = waiting.communicate(timeout=20)[0].split()[0]
    assert gpu in {"0", "1", "2"}
    for holder in holders:
        holder.kill()
        holder.communicate()


def test_the_schedulers_choice_is_respected(tmp_path, monkeypatch):
    monkeypatch.setenv(VISIBLE, "7")
    with lease_gpu(tmp_path, ["0"]) as gpu:
        assert gpu == "7"
    assert os.environ[VISIBLE] == "7"
    assert not list(tmp_path.iterdir())


def test_the_choice_is_visible_inside_and_gone_outside(tmp_path, monkeypatch):
    monkeypatch.delenv(VISIBLE, raising=False)
    with lease_gpu(tmp_path, ["3"]):
        assert os.environ[VISIBLE] == "3"
    assert VISIBLE not in os.environ


def test_no_gpu_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.delenv(VISIBLE, raising=False)
    with pytest.raises(ConfigurationError, match="device=cpu"), lease_gpu(tmp_path, []):
        pass


def test_found_gpus_reads_the_restriction(monkeypatch):
    monkeypatch.setenv("FEDBENCH_GPUS", "0,2")
    assert found_gpus() == ["0", "2"]
    monkeypatch.setenv("FEDBENCH_GPUS", "")
    assert found_gpus() == []


def test_found_gpus_reads_nvidia_smi(tmp_path, monkeypatch):
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 'GPU 0: Some (UUID: a)'\necho 'GPU 1: Some (UUID: b)'\n")
    program.chmod(0o755)
    monkeypatch.delenv("FEDBENCH_GPUS", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert found_gpus() == ["0", "1"]
