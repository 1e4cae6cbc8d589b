"""Theorems are found by name; rows judge themselves; the report says what the rows say."""

import csv
import io
import math

import pytest

import fedbench.theorems
from fedbench.cli.__main__ import main
from fedbench.errors import ConfigurationError
from fedbench.theorems._catalogue import Measured, measure_theorems, theorem_named, theorem_names
from fedbench.theorems._report import COLUMNS, csv_text, markdown_text, summary
from fedbench.theorems._row import Row

ADDED = """
from fedbench.theorems._row import Row
THEOREM, SAYS = "Added, Theorem 1", "One is at most two."
def measure():
    yield Row(THEOREM, "one <= two", "printed", "always", 1.0, "<=", 2.0)
"""


def row(measured, relation="<=", claimed=1.0, statement="printed"):
    return Row("T", "a | b", statement, "x < y", measured, relation, claimed)


@pytest.mark.parametrize(
    ("measured", "relation", "claimed", "holds"),
    [
        (1.0, "<=", 1.0, True),
        (1.1, "<=", 1.0, False),
        (1.0, ">=", 1.0, True),
        (0.9, ">=", 1.0, False),
        (-2.19, "within 10% of", -2.0, True),
        (-2.3, "within 10% of", -2.0, False),
        (math.nan, "<=", 1.0, False),
        (math.nan, ">=", 1.0, False),
        (math.nan, "within 10% of", 1.0, False),
    ],
)
def test_a_row_holds_by_its_figures(measured, relation, claimed, holds):
    assert row(measured, relation, claimed).holds is holds


def test_every_theorem_has_its_texts_and_is_found_by_either_spelling():
    assert {"fedaux-convergence", "fedaux-oja", "fedaux-sorting"} <= set(theorem_names())
    for name in theorem_names():
        module = theorem_named(name)
        assert module is theorem_named(name.replace("-", "_"))
        assert module.THEOREM and module.SAYS and callable(module.measure)


def test_a_module_added_to_the_package_is_measured(tmp_path, monkeypatch):
    (tmp_path / "added_theorem.py").write_text(ADDED)
    (tmp_path / "_helper.py").write_text("")
    monkeypatch.setattr(fedbench.theorems, "__path__", [*fedbench.theorems.__path__, str(tmp_path)])
    assert "added-theorem" in theorem_names() and "-helper" not in theorem_names()
    (measured,) = measure_theorems(["added-theorem"])
    assert (measured.theorem, measured.says, len(measured.rows)) == ("Added, Theorem 1", "One is at most two.", 1)


def test_an_unknown_theorem_names_the_nearest():
    with pytest.raises(ConfigurationError, match="did you mean 'fedaux-oja'"):
        theorem_named("fedaux-oya")


def test_csv_has_a_line_a_row_and_prints_rounding_noise_as_zero():
    rows = (row(1 / 3), row(3e-17), row(2.0, statement="corrected"))
    lines = list(csv.reader(io.StringIO(csv_text([Measured("T", "says", rows)]))))
    assert tuple(lines[0]) == COLUMNS
    assert lines[1] == ["T", "a | b", "printed", "x < y", "0.3333", "<=", "1", "yes"]
    assert [line[4] for line in lines[1:]] == ["0.3333", "0", "2"]
    assert [line[7] for line in lines[1:]] == ["yes", "yes", "no"]


def test_markdown_marks_printed_claims_that_fail_and_keeps_its_columns():
    measured = Measured("T", "says", (row(2.0), row(2.0, statement="corrected"), row(0.5)))
    assert summary(measured) == "1 of 2 rows on printed claims hold, 1 of all 3"
    page = markdown_text([measured])
    assert "## T\n\nsays\n" in page
    lines = [line for line in page.splitlines() if line.startswith("| a")]
    assert [line.split(" | ")[-1] for line in lines] == ["**no** |", "no |", "yes |"]
    assert all(line.replace(r"\|", "").count("|") == len(COLUMNS) for line in lines)


def test_the_command_writes_both_files_twice_the_same(tmp_path, capsys):
    for folder in ("one", "two"):
        assert main(["theorems", "fedaux-sorting", "--out", str(tmp_path / folder / "t.csv")]) == 0
    assert "Theorem 3.2" in capsys.readouterr().out
    for name in ("t.csv", "t.md"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    lines = list(csv.DictReader((tmp_path / "one" / "t.csv").open()))
    assert {line["theorem"] for line in lines} == {theorem_named("fedaux-sorting").THEOREM}
