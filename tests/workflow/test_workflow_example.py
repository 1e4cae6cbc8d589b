"""A program outside the package joins as one rule file and shows up as a row of the table; on a piece of real Cora."""

import csv

TARGET = "reports/smoke/tables/fedaux-table1.csv"
CONFIG = ("--config", "suite=smoke", "rules=examples/nearest_centroid/centroid.smk", "also=centroid")


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
