"""A training job from files to a record: what it writes, how it fails, how it resumes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from fedbench.cli.__main__ import main
from fedbench.configuration.run import RunName, resolve
from fedbench.engine import checkpoint
from fedbench.engine import job as jobs
from fedbench.engine.job import Job, train, train_to, use_one_thread
from fedbench.engine.resume import FinishedSeeds
from fedbench.errors import ConfigurationError, DataError, RecordError, TrainingError
from fedbench.files import sha256_of, write_arrays
from fedbench.records.store import read_record
from fedbench.tasks.task import task_named
from tests.tasks.toy_graphs import toy_graphs
from tests.toys import toy_problem

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
NAME = RunName(protocol="smoke", dataset="toy", partition="toy-3", method="fedaux", variant="released")


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    problem = toy_problem()
    dataset, partition = tmp_path / "toy.npz", tmp_path / "toy-3.npz"
    write_arrays(dataset, dict(problem.data), {"dataset": "toy", "classes": 4})
    write_arrays(partition, dict(problem.partition), cut_of(dataset))
    return dataset, partition


def cut_of(dataset: Path) -> dict[str, Any]:
    """Return the description of the toy's partition."""
    return {"dataset": "toy", "dataset_digest": sha256_of(dataset), "scheme": "toy", "clients": 3, "seed": 0}


def job_of(files: tuple[Path, Path], seeds: tuple[int, ...] = (0, 1), state: Path | None = None, **name: str) -> Job:
    return Job(NAME.model_copy(update=name), seeds, CONFIGS, *files, state=state)


def test_a_record_holds_every_seed_client_round(files: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "seeds-0-1.parquet"
    train_to(job_of(files), out)
    record = read_record(out)
    header, table = record.header, record.table.to_pandas()
    rounds = header.settings["training"]["rounds"]
    test = table[(table.split == "test") & (table.metric == "accuracy")]
    assert len(test) == 2 * 3 * rounds
    assert (header.seeds, header.clients, header.method) == ((0, 1), 3, "fedaux")
    assert [cost.seed for cost in header.costs] == [0, 1]
    assert header.costs[0].training_seconds > 0 and header.peak_memory_mb > 50 and header.startup_seconds > 0
    assert np.allclose(np.sum(header.diagnostics["1"]["mixing"]["5"], axis=1), 1.0, atol=1e-4)


@pytest.mark.skipif(not torch.set_flush_denormal(False), reason="this processor can't treat subnormal numbers as 0")
def test_subnormal_numbers_are_zero_forward_and_backward() -> None:
    torch.set_flush_denormal(False)
    x = torch.ones(8, requires_grad=True)
    assert float((x.detach() * 1e-30 * 1e-10).sum()) > 0
    use_one_thread()
    product = (x * 1e-30 * 1e-10).sum()
    product.backward()
    assert float(product.detach()) == 0 and float(x.grad.abs().max()) == 0  # type: ignore[union-attr]


def test_a_seed_is_the_same_in_any_block(files: tuple[Path, Path]) -> None:
    block, alone = train(job_of(files, (0, 1, 2))), train(job_of(files, (2,)))
    frame = block.table.to_pandas()
    assert frame[frame.seed == 2].reset_index(drop=True).equals(alone.table.to_pandas())


def test_digests_follow_what_they_name(files: tuple[Path, Path]) -> None:
    one, other = train(job_of(files)), train(job_of(files, method="fedavg", variant="default"))
    assert one.header.digests.dataset == other.header.digests.dataset
    assert one.header.digests.settings != other.header.digests.settings
    assert one.header.digests.code != other.header.digests.code


def test_finished_seeds_survive_a_failure_and_are_not_trained_again(
    files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, out, trained, run = tmp_path / "state", tmp_path / "seeds-0-2.parquet", [], jobs.run

    def failing(method, problem, seeds, *rest):  # type: ignore[no-untyped-def]
        trained.append(seeds[0])
        if trained == [0, 1]:
            raise TrainingError("stopped here")
        return run(method, problem, seeds, *rest)

    monkeypatch.setattr(jobs, "run", failing)
    with pytest.raises(TrainingError):
        train_to(job_of(files, (0, 1, 2), state), out)
    assert not out.exists()
    train_to(job_of(files, (0, 1, 2), state), out)
    assert trained == [0, 1, 1, 2]
    assert not any(state.iterdir())
    monkeypatch.setattr(jobs, "run", run)
    assert read_record(out).table.equals(train(job_of(files, (0, 1, 2))).table)


def test_a_finished_job_leaves_another_jobs_seeds_of_the_same_run(
    files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, run = tmp_path / "state", jobs.run

    def failing(method, problem, seeds, *rest):  # type: ignore[no-untyped-def]
        if seeds == (3,):
            raise TrainingError("stopped here")
        return run(method, problem, seeds, *rest)

    monkeypatch.setattr(jobs, "run", failing)
    with pytest.raises(TrainingError):
        train_to(job_of(files, (2, 3), state), tmp_path / "seeds-2-3.parquet")
    left = sorted(state.rglob("*.*"))
    train_to(job_of(files, (0, 1), state), tmp_path / "seeds-0-1.parquet")
    assert sorted(state.rglob("*.*")) == left
    assert [path.name for path in left] == ["seed-2.json", "seed-2.parquet"]


def test_a_gpu_takes_all_seeds_at_once_if_the_clients_make_one_stack(files: tuple[Path, Path]) -> None:
    job = replace(job_of(files, (0, 1, 2)), device="cuda")
    nothing = FinishedSeeds(None, jobs.digests_of(job, resolve(job.name, CONFIGS)), "cuda")
    nodes, graphs = task_named("node"), task_named("graph")
    assert list(jobs._waiting(job, nothing, toy_problem(), nodes)) == [(0, 1, 2)]
    assert list(jobs._waiting(job, nothing, toy_graphs(), graphs)) == [(0, 1, 2)]
    assert list(jobs._waiting(job, nothing, toy_graphs(), nodes)) == [(0,), (1,), (2,)]  # which can't pad
    assert list(jobs._waiting(replace(job, device="cpu"), nothing, toy_problem(), nodes)) == [(0,), (1,), (2,)]


def test_a_long_seed_goes_on_from_its_checkpoint(
    files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, started = tmp_path / "state", []
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)

    def killed(name, seeds, rounds):  # type: ignore[no-untyped-def]
        def report(round: int, history: object) -> None:
            started.append(round)
            if started == [1, 2, 3]:
                raise KeyboardInterrupt

        return report

    monkeypatch.setattr(jobs, "log_progress", killed)
    with pytest.raises(KeyboardInterrupt):
        train_to(job_of(files, (0,), state), tmp_path / "seeds-0-0.parquet")
    assert len(list(state.glob("*/seeds-0.checkpoint.npz"))) == 1
    train_to(job_of(files, (0,), state), tmp_path / "seeds-0-0.parquet")
    assert started == [1, 2, 3, 3, 4, 5]
    assert not any(state.iterdir())
    record = read_record(tmp_path / "seeds-0-0.parquet")
    assert record.table.equals(train(job_of(files, (0,))).table)


def test_a_killed_job_leaves_no_record_and_resumes(files: tuple[Path, Path], tmp_path: Path) -> None:
    state, out = tmp_path / "state", tmp_path / "seeds-0-199.parquet"
    command = [
        sys.executable, "-m", "fedbench.cli", "train", "fedavg", "--protocol", "smoke",
        "--dataset", "toy", "--partition", "toy-3", "--seeds", "0-199", "--dataset-file", str(files[0]),
        "--partition-file", str(files[1]), "--out", str(out), "--state", str(state), "--configs", str(CONFIGS),
    ]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=os.environ)
    while process.poll() is None and len(list(state.glob("*/seed-*.json"))) < 2:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not out.exists() and not out.with_suffix(".json").exists()
    finished = len(list(state.glob("*/seed-*.json")))
    assert 2 <= finished < 200
    name = {"method": "fedavg", "variant": "default"}
    resumed = train(job_of(files, tuple(range(finished)), state, **name))
    assert resumed.table.equals(train(job_of(files, tuple(range(finished)), **name)).table)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"method": "fedpup"}, "fedpub"),
        ({"variant": "relased"}, "released"),
        ({"protocol": "smoky"}, "smoke"),
    ],
)
def test_unknown_names_suggest_the_nearest(files: tuple[Path, Path], change: dict[str, str], says: str) -> None:
    with pytest.raises(ConfigurationError, match=f"did you mean '{says}'"):
        train(job_of(files, **change))


def test_a_partition_of_another_file_of_the_same_data_set_is_refused(files: tuple[Path, Path]) -> None:
    data = dict(toy_problem().data)
    write_arrays(files[0], data | {"x_data": 2 * data["x_data"]}, {"dataset": "toy", "classes": 4})
    with pytest.raises(DataError, match="one of 'toy' for the task 'node', of a file with sha256"):
        train(job_of(files))


def test_a_partition_for_another_task_is_refused(files: tuple[Path, Path]) -> None:
    write_arrays(files[1], dict(toy_problem().partition), cut_of(files[0]) | {"task": "rec"})
    with pytest.raises(DataError, match="for the task 'rec'"):
        train(job_of(files))


@pytest.mark.parametrize("name", [{"dataset": "cora"}, {"partition": "toy-4"}, {"partition": "toy-3-s1"}])
def test_files_of_another_name_than_the_records_are_refused(files: tuple[Path, Path], name: dict[str, str]) -> None:
    with pytest.raises(DataError, match=r"toy-3\.npz is toy/toy-3"):
        train(job_of(files, **name))


@pytest.mark.parametrize(("method", "task"), [("fedstar", "graph"), ("gfcf", "rec")])
def test_a_method_for_another_task_is_refused(files: tuple[Path, Path], method: str, task: str) -> None:
    with pytest.raises(ConfigurationError, match=f"protocols of the task {task}"):
        train(job_of(files, method=method, variant="default"))


def test_a_truncated_partition_is_refused(files: tuple[Path, Path]) -> None:
    files[1].write_bytes(files[1].read_bytes()[:200])
    with pytest.raises(DataError, match="read arrays"):
        train(job_of(files))


def test_the_command_line_reports_errors_and_fails(files: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "x.parquet"
    command = ["train", "fedavg", "--protocol", "nosuch", "--dataset", "toy", "--partition", "toy-3", "--seeds", "0-0"]
    paths = ["--dataset-file", str(files[0]), "--partition-file", str(files[1]), "--out", str(out)]
    done = subprocess.run(
        [sys.executable, "-m", "fedbench.cli", *command, *paths, "--configs", str(CONFIGS)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "asked:" in done.stderr and "Traceback" not in done.stderr
    assert not out.exists()


def test_a_record_is_json_and_parquet_only(files: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "seeds-0-0.parquet"
    train_to(job_of(files, (0,)), out)
    assert sorted(p.name for p in tmp_path.glob("seeds*")) == ["seeds-0-0.json", "seeds-0-0.parquet"]
    assert json.loads(out.with_suffix(".json").read_text())["schema_version"] == 1


def test_rounds_are_numbered_from_one(files: tuple[Path, Path]) -> None:
    frame = train(job_of(files, (0,))).table.to_pandas()
    accuracy = frame[frame.metric == "accuracy"]
    assert sorted(accuracy["round"].unique()) == [1, 2, 3, 4, 5]
    assert (accuracy.groupby(["round", "split"]).size() == 3).all()


def test_a_record_has_the_suffix_of_its_form(files: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"suffix '\.csv'"):
        train_to(job_of(files, (0,)), tmp_path / "seeds-0-0.csv")


def test_ctrl_c_says_how_to_go_on(
    files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(jobs, "train_to", interrupted)
    names = ["--protocol", "smoke", "--dataset", "toy", "--partition", "toy-3", "--seeds", "0-0"]
    places = [
        "--dataset-file",
        files[0],
        "--partition-file",
        files[1],
        "--out",
        tmp_path / "x.parquet",
        "--state",
        "kept",
    ]
    assert main(["train", "fedavg", *names, *map(str, places)]) == 130
    assert "interrupted; the same command goes on from what kept keeps" in capsys.readouterr().err


def test_what_one_device_finished_is_not_taken_for_another(tmp_path: Path, files: tuple[Path, Path]) -> None:
    record = train(job_of(files, (0,)))
    digests = record.header.digests
    FinishedSeeds(tmp_path, digests, "cpu").add(0, record.table, record.header.costs[0], {})
    assert FinishedSeeds(tmp_path, digests, "cpu").has(0)
    assert not FinishedSeeds(tmp_path, digests, "cuda").has(0)
    assert not FinishedSeeds(tmp_path, digests.model_copy(update={"code": "other"}), "cpu").has(0)
