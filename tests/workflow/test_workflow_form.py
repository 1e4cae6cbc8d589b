"""The workflow is well formed, and every suite can be planned in full."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from fedbench.methods.registry import method_names

ROOT = Path(__file__).parents[2]

METHOD_FILES = sorted((ROOT / "workflow/methods").glob("*.smk"))
SUITES = sorted(path.stem for path in (ROOT / "configs/suites").glob("*.yaml"))


def test_lint_finds_nothing(tree):
    said = tree.snakemake("--lint")
    assert said.returncode == 0, said.stdout


def test_snakefmt_would_change_nothing():
    sources = [str(ROOT / part) for part in ("Snakefile", "workflow", "examples")]
    said = subprocess.run(
        [Path(sys.executable).parent / "snakefmt", "--check", *sources], capture_output=True, text=True
    )
    assert said.returncode == 0, said.stderr


@pytest.mark.parametrize("suite", SUITES)
def test_every_suite_can_be_planned_in_full(tree, suite):
    counts = tree.rules_to_run("all", "--forceall", "--config", f"suite={suite}")
    assert counts["fetch"] >= 1
    assert sum(number for rule, number in counts.items() if rule.startswith("train_")) >= 1


@pytest.mark.parametrize("path", METHOD_FILES, ids=lambda path: path.stem)
def test_a_method_file_speaks_of_its_own_method_alone(path):
    name = path.stem
    assert len(path.read_text().splitlines()) <= 6
    assert re.findall(r'"(\w+)"', path.read_text()) == [name, name]
    assert f"train as train_{name} with:" in path.read_text()


def test_every_method_has_a_rule_file():
    assert set(method_names()) == {path.stem for path in METHOD_FILES}


def test_every_rule_says_what_it_needs():
    for path in sorted((ROOT / "workflow/rules").glob("*.smk")):
        for rule in re.split(r"\n(?=rule )", path.read_text())[1:]:
            if "shell:" in rule or "script:" in rule:
                wanted = ("log:", "threads:", "resources:", "mem_mb=", "runtime=", "conda:", "message:")
                assert [word for word in wanted if word not in rule] == [], rule.splitlines()[0]
            assert "lambda" not in rule
            assert "run:" not in rule.split()


def test_cuda_jobs_take_turns_at_one_gpu(tree):
    tree.environment["STAND_IN_SECONDS"] = "0.3"
    record = "results/records/smoke/cora-mini/metis-3/{}/default/seeds-0-1.parquet"
    targets = [record.format(method) for method in ("local", "fedavg", "fedper")]
    said = tree.snakemake(*targets, "--resources", "gpu=1", "--config", "suite=smoke", "device=cuda")
    assert said.returncode == 0, said.stdout
    lines = [line.split()[0] for line in (tree.folder / "calls.log").read_text().splitlines()]
    assert [line for line in lines if line.startswith("train")] == ["train", "trained"] * 3
    assert all("--device cuda" in call for call in tree.calls("train"))
