"""The table of benchmarks: columns, ratios, and rows kept from earlier runs."""

from __future__ import annotations

from pathlib import Path

from benchmarks.result import COLUMNS, Result, compare, read, write


def test_columns_are_those_that_readers_expect() -> None:
    assert COLUMNS == ("name", "ours", "other", "ratio", "target", "unit", "conditions")


def test_ratio_is_other_over_ours() -> None:
    assert Result("a", 2.0, 12.0).row()["ratio"] == "6"
    assert Result("a", 2.0).row()["ratio"] == ""


def test_compare_gives_medians_and_minima() -> None:
    median, least = compare("a", [3.0, 1.0, 2.0], [40.0, 10.0, 20.0], target=">= 5", unit="ms", conditions="here")
    assert (median.ours, median.other, median.ratio) == (2.0, 20.0, 10.0)
    assert (least.ours, least.other) == (1.0, 10.0)


def test_rows_not_measured_again_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "reports" / "benchmarks.csv"
    write(file, [Result("b", 1.0), Result("a", 1.0)])
    write(file, [Result("b", 2.0)], keep=read(file))
    assert [(row["name"], row["ours"]) for row in read(file)] == [("a", "1"), ("b", "2")]


def test_no_earlier_table_is_no_rows(tmp_path: Path) -> None:
    assert read(tmp_path / "none.csv") == []
