"""A copy of the workflow in a folder of its own, and Snakemake run there.

Most tests replace the program `fedbench` by a stand-in that only leaves the files it is asked for, so that they see
what Snakemake decides without training anything.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SMOKE = ("--config", "suite=smoke")
PARTS = ("Snakefile", "workflow", "configs", "fedbench", "environment.yml", "examples")

STAND_IN = """#!/bin/sh
# Leaves the files that `fedbench` is asked for, and a line in calls.log.
echo "$@ CUDA_VISIBLE_DEVICES=$CUDA_VISIBLE_DEVICES node=$SLURMD_NODENAME" >> calls.log
command=$1 name=$2
while [ $# -gt 0 ]; do
    case $1 in --out) out=$2 ;; --csv) csv=$2 ;; --markdown) markdown=$2 ;; --table) table=$2 ;; esac
    shift
done
case $command in
    fetch) echo raw > "$out/source.json" ;;
    dataset) echo data > "$out"; echo data > "${out%.npz}.origin.npz" ;;
    partition) echo cut > "$out" ;;
    partition-report) echo a > "$csv"; echo a > "$markdown" ;;
    train)
        sleep "${STAND_IN_SECONDS:-0}"
        echo trained >> calls.log
        echo record > "$out"; echo header > "${out%.parquet}.json" ;;
    table) for suffix in csv tex md; do echo table > "$out/$name.$suffix"; done ;;
    figure) for suffix in png pdf; do echo figure > "$out/$name${table:+-$table}.$suffix"; done ;;
esac
"""


@dataclass
class Tree:
    """A copy of the workflow.

    Args:
        folder: where it lies; everything that runs there stays there.
        environment: of the programs run there.
    """

    folder: Path
    environment: dict[str, str]

    def command(self, *arguments: str) -> list[str]:
        """Return the words of a Snakemake call."""
        return [sys.executable, "-m", "snakemake", "--cores", "2", *arguments]

    def snakemake(self, *arguments: str, timeout: float = 300) -> subprocess.CompletedProcess:
        """Run Snakemake and return its status and what it said, both streams in `stdout`."""
        return subprocess.run(
            self.command(*arguments),
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=timeout,
        )

    def rules_to_run(self, *arguments: str) -> dict[str, int]:
        """Return how many jobs of each rule a dry run announces."""
        said = self.snakemake(*arguments, "-n", "--quiet", "rules", "reason", "host")
        assert said.returncode == 0, said.stdout
        lines = said.stdout.partition("Job stats:\n")[2].splitlines()[2:]
        rows = [line.split() for line in lines[: lines.index("")]] if lines else []
        return {name: int(count) for name, count in rows if name != "total"}

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace text in a file, which must hold it."""
        file = self.folder / path
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))

    def calls(self, command: str) -> list[str]:
        """Return the stand-in's calls of one sub-command."""
        log = self.folder / "calls.log"
        lines = log.read_text().splitlines() if log.exists() else []
        return [line for line in lines if line.startswith(f"{command} ")]


def tree_in(folder: Path) -> Tree:
    """Return the tree in ``folder``; its own `fedbench` package and programs come first."""
    path = os.pathsep.join([str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    own = {"PATH": path, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return Tree(folder, {**os.environ, **own})


def copied_to(folder: Path) -> Tree:
    """Return a fresh copy of the workflow, in which `fedbench` is fedbench."""
    for part in PARTS:
        source = ROOT / part
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, folder / part)
    return tree_in(folder)


@pytest.fixture
def real_tree(tmp_path: Path) -> Tree:
    """Return a copy in which `fedbench` is fedbench."""
    return copied_to(tmp_path)


def with_stand_in(folder: Path) -> Tree:
    """Return a copy in which `fedbench` is the stand-in."""
    copy = copied_to(folder)
    program = folder / "bin" / "fedbench"
    program.parent.mkdir()
    program.write_text(STAND_IN)
    program.chmod(0o755)
    return copy


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Return a copy in which `fedbench` is the stand-in."""
    return with_stand_in(tmp_path)


@pytest.fixture(scope="session")
def finished_folder(tmp_path_factory) -> Path:
    """Return a folder in which the smoke suite has been run with the stand-in, to be copied."""
    folder = tmp_path_factory.mktemp("finished")
    said = with_stand_in(folder).snakemake("all", *SMOKE)
    assert said.returncode == 0, said.stdout
    return folder


@pytest.fixture
def done(finished_folder: Path, tmp_path: Path) -> Tree:
    """Return a copy of the finished run."""
    folder = tmp_path / "copy"
    shutil.copytree(finished_folder, folder)
    return tree_in(folder)
