"""`fedbench calibrate`: what passes, what fails, and what it writes."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from fedbench.cli.__main__ import main
from fedbench.configuration.calibration import load_calibrations
from fedbench.configuration.suite import load_suite, table_in_suite
from tests.records.support import RUN, World

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
CHECK = {"name": "toy", "run": RUN.model_dump(), "target": 70.0, "tolerance": 0.5, "source": "by hand"}


def calibrate(world: World, **change: object) -> tuple[int, dict[str, str]]:
    world.configure("calibrations", "toy", {"title": "Toy", "suite": "s", "checks": [CHECK | change]})
    out = world.root / "calibration.csv"
    status = main(["calibrate", "--suite", "s", "--configs", str(world.configs), "--records", str(world.records),
                   "--out", str(out)])  # fmt: skip
    rows = list(csv.DictReader(out.read_text().splitlines())) if out.exists() else [{}]
    return status, rows[0]


def test_a_hit_passes(world: World) -> None:
    world.suite()
    world.fill()
    status, row = calibrate(world)
    assert status == 0
    assert (row["ours"], row["target"], row["tolerance"], row["ok"]) == ("70.20", "70.00", "0.50", "True")
    assert (row["n_seeds"], row["ours_first_5_seeds"]) == ("2", "70.20")


def test_a_miss_that_chance_explains_is_told_from_one_that_it_does_not(world: World) -> None:
    """70.20 over two seeds; a spread of 1.0 over two published seeds: the error of the difference is 1.0."""
    world.suite()
    world.fill()
    spread = {"published_std": 1.0, "published_seeds": 2}
    for target, within in ((72.1, "True"), (72.3, "False")):
        status, row = calibrate(world, target=target, **spread)
        assert (status, row["ok"], row["standard_error"], row["within_2_errors"]) == (1, "False", "1.00", within)
    _, row = calibrate(world, target=70.2)
    assert (row["standard_error"], row["within_2_errors"]) == ("", "")
    assert calibrate(world, published_std=1.0)[0] == 1  # a spread over how many?


def test_published_spreads_are_those_of_the_published_figures() -> None:
    checks = [check for file in load_calibrations(CONFIGS) for check in file.checks if check.published_std is not None]
    with (CONFIGS / "published" / "graph-fl.csv").open() as lines:
        printed = {
            (row["dataset"], row["method"]): (float(row["mean"]), float(row["std"]), row["source"])
            for row in csv.DictReader(lines)
            if row["paper"] == "FedIGL (NeurIPS 2025)" and row["table"] == "Table 1"
        }
    assert len(checks) == 4
    for check in checks:
        mean, std, source = printed[check.run.dataset.upper(), "FedStar"]
        assert (check.published, check.published_std) == (mean, std)
        assert check.published_seeds == 5 and "five seeds" in source


@pytest.mark.parametrize("target", [69.5, 70.9])
def test_a_miss_on_either_side_is_written_and_fails(world: World, target: float) -> None:
    world.suite()
    world.fill()
    status, row = calibrate(world, target=target)
    assert (status, row["ok"]) == (1, "False")


def test_a_missing_record_is_named(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.suite(seeds=4, per_job=2)
    world.fill((0, 1))
    status, _ = calibrate(world)
    assert status == 1
    assert "seeds-2-3" in capsys.readouterr().err


def test_a_check_reads_its_own_metric_with_its_decimals(world: World) -> None:
    world.suite()
    world.fill()
    status, row = calibrate(world, metric={"scale": 1, "unit": "of 1", "decimals": 4}, target=0.7019, tolerance=0.0002)
    assert (status, row["ours"], row["target"], row["tolerance"]) == (0, "0.7020", "0.7019", "0.0002")


def test_the_seeds_are_those_of_the_suite_wherever_they_begin(world: World) -> None:
    world.suite()
    world.configure(
        "suites", "s", {"title": "L", "description": "-", "seeds": 2, "first_seed": 1, "tables": {"toy": {}}}
    )
    world.fill((0, 1), per_job=2)
    assert calibrate(world) == (1, {})  # no record of seeds 1-2
    world.fill((1, 2), per_job=2)
    status, row = calibrate(world)
    assert (status, row["ok"], row["n_seeds"]) == (0, "True", "2")


def test_a_suite_without_calibrations_is_an_error(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.suite()
    world.configure("calibrations", "other", {"title": "Other", "suite": "t", "checks": [CHECK]})
    assert main(["calibrate", "--suite", "s", "--configs", str(world.configs)]) == 1
    assert "no calibration of it" in capsys.readouterr().err


def test_the_suites_train_every_run_that_is_checked() -> None:
    for file in load_calibrations(CONFIGS):
        suite = load_suite(file.suite, CONFIGS)
        trained = {run for table in suite.tables for run in table_in_suite(table, suite, CONFIGS).runs()}
        assert {check.run for check in file.checks} <= trained
