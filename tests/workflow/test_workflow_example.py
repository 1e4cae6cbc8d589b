"""A program outside the package joins as one rule file and shows up as a row of the table; on a piece of real Cora."""

import csv
import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TARGET = "reports/smoke/tables/fedaux-table1.csv"
CONFIG = ("--config", "suite=smoke", "rules=examples/nearest_centroid/centroid.smk", "also=centroid")


@pytest.fixture(params=["README.md", "docs/tutorial-new-method.md", "examples/nearest_centroid/centroid.smk"])
def printed(request) -> list[str]:
    """Return the words of the command that a document prints for the example."""
    text = (ROOT / request.param).read_text()
    (command,) = re.findall(r"^[# ]*snakemake (.*also=centroid)$", text, re.MULTILINE)
    return shlex.split(command)


def test_the_printed_command_asks_the_example_for_nodes_alone(tree, printed):
    assert tree.rules_to_run(*printed)["train_centroid"] == 1
    said = tree.snakemake(*printed, "-n", "--quiet", "rules")
    assert not re.search(r"(mutag|ml-100k).*centroid", said.stdout)


def test_the_example_becomes_a_row_of_the_table(real_tree):
    table = real_tree.folder / "configs/tables/fedaux-table1.yaml"
    text = table.read_text()
    table.write_text(text[: text.index("rows:")] + "rows:\n  - {method: majority}\n")
    said = real_tree.snakemake(TARGET, "--show-failed-logs", *CONFIG)
    assert said.returncode == 0, said.stdout

    path = real_tree.folder / TARGET
    with path.open() as stream:
        cells = {row["method"]: row for row in csv.DictReader(stream)}
    assert 30 < float(cells["centroid"]["mean"]) < 100
    assert "centroid/default/seeds-0-1.json@" in cells["centroid"]["records"]
    assert "| Nearest centroid |" in path.with_suffix(".md").read_text()

    assert real_tree.rules_to_run(TARGET, *CONFIG) == {}
    real_tree.edit("examples/nearest_centroid/classify.py", "NearestCentroid()", "NearestCentroid(metric='manhattan')")
    assert real_tree.rules_to_run(TARGET, *CONFIG) == {"train_centroid": 1, "table": 1}
