"""The sentences below a table: number of seeds, sources, rules and counts of verdicts, notes on methods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pandas as pd

from fedbench.configuration.method import variant_of
from fedbench.configuration.table import Row, TableFile
from fedbench.stats.published import load_names
from fedbench.stats.verdict import NOT_RUN, kind_of, partition_rule_in_words, rule_in_words
from fedbench.tables.cell_view import letter
from fedbench.tables.foot import foot_rows
from fedbench.tables.over_clients import over_clients_notes
from fedbench.tables.paired import has_overall
from fedbench.tables.reading_notes import reading_notes
from fedbench.tables.tidy import usual_seeds

Labels = Mapping[Row, str]
"""Row names."""
RANKED = ("figure", "clients", "fairness")
"""Kinds of tables that mark the best."""
_OVERALL = (
    "All columns: each seed's mean difference over the columns, which count alike; the interval is for further seeds "
    "on these very data sets and partitions, not for others."
)


def notes(table: TableFile, frame: pd.DataFrame, labels: Labels, configs: Path) -> list[str]:
    """Return the sentences below the table, in plain text."""
    return [*_about_figures(table, frame, labels), *_about_methods(table, labels, configs)]


def _about_figures(table: TableFile, frame: pd.DataFrame, labels: Labels) -> list[str]:
    lines = [] if table.kind == "noniid" else [_seeds(frame)]
    lines += KIND_NOTES.get(table.kind, _nothing)(table, frame, labels)
    if table.kind in RANKED and _half_run(frame):
        lines.append("Nothing is bold or underlined in a column with cells that were not run.")
    if table.partition_seeds > 1:
        lines += _about_partitions(table)
    if table.measured:
        lines.append("Clock readings: two runs of the same settings differ.")
    if (frame["stale"].fillna("") != "").any():
        parts = sorted({part for text in frame["stale"] for part in text.split(";") if part})
        lines.append(f"† made before a change of {' and '.join(parts)}; see `fedbench check`.")
    return lines


def _half_run(frame: pd.DataFrame) -> bool:
    """Tell whether a column has cells that were run beside cells that weren't."""
    was_run = (frame["verdict"] != NOT_RUN).groupby([frame["dataset"], frame["partition"]])
    return bool((was_run.any() & ~was_run.all()).any())


def _compared(table: TableFile, frame: pd.DataFrame, labels: Labels) -> list[str]:
    lower = [f"Lower is better: bold is the lowest {table.metric.unit}."] if table.metric.better == "lower" else []
    return [*lower, *_judged(table, frame), *_correlated(table, frame)]


def _correlated(table: TableFile, frame: pd.DataFrame) -> list[str]:
    if not foot_rows(table, frame):
        return []
    return [
        "Rank correlation: order of the methods here against the paper's, in brackets the number of methods; "
        f"of two variants the first counts{', and [a] alone' if len(table.published) > 1 else ''}."
    ]


def _noniid(table: TableFile, frame: pd.DataFrame, labels: Labels) -> list[str]:
    return [*_judged(table, frame), *reading_notes(table, frame)]


def _judged(table: TableFile, frame: pd.DataFrame) -> list[str]:
    if not frame["published_mean"].notna().any():
        return []
    return [
        *_sources(table),
        rule_in_words(table.reproduced_within, table.metric.step),
        f"Verdicts here: {_counts(frame)}.",
    ]


def _sources(table: TableFile) -> list[str]:
    if len(table.published) == 1:
        return [f"Below each cell: {table.published[0].title}, and the verdict."]
    listed = "; ".join(f"[{letter(place)}] {source.title}" for place, source in enumerate(table.published))
    return [
        f"Below each cell: the first of these sources that has a figure, and the verdict; then the others: {listed}."
    ]


def _about_partitions(table: TableFile) -> list[str]:
    runs = f"run seeds 0 to {table.partition_run_seeds - 1}" if table.partition_run_seeds > 1 else "run seed 0"
    return [
        f"Partitions: mean and standard deviation over partitions made with other seeds, each by the mean of {runs}; "
        "in brackets their number. The first line's spread is over initial weights at the first partition.",
        *([partition_rule_in_words()] if table.published else []),
    ]


def _paired(table: TableFile, frame: pd.DataFrame, labels: Labels) -> list[str]:
    name = labels[table.baseline_row] if table.baseline_row else "nothing"
    return [
        f"Each figure is the row minus {name} in {table.metric.step}, paired by seed: mean and sample standard "
        "deviation of the differences, Student's 95 % interval of their mean, and in how many seeds the row is better.",
        "The interval is for one comparison; with many rows some exclude zero by chance.",
        *([_OVERALL] if has_overall(table) else []),
    ]


def _over_clients(table: TableFile, frame: pd.DataFrame, labels: Labels) -> list[str]:
    return [*over_clients_notes(table), *_judged(table, frame)]


def _rounds(table: TableFile, frame: pd.DataFrame, labels: Labels) -> list[str]:
    base = table.baseline_row
    return [f"The baseline is {labels[base]}." if base else "No baseline."]


def _nothing(table: TableFile, frame: pd.DataFrame, labels: Labels) -> list[str]:
    return []


KIND_NOTES: dict[str, Callable[[TableFile, pd.DataFrame, Labels], list[str]]] = {
    "figure": _compared,
    "noniid": _noniid,
    "paired": _paired,
    "rounds": _rounds,
    "clients": _over_clients,
    "fairness": _over_clients,
}


def _about_methods(table: TableFile, labels: Labels, configs: Path) -> list[str]:
    if table.kind == "noniid":
        return []
    titles = {(row, variant): text for row in labels for variant, text in _titles(table, row, labels[row], configs)}
    found = {text: variant_of(row.method, variant, configs).note for (row, variant), text in titles.items()}
    return [f"{label}: {' '.join(note.split()).rstrip('.')}." for label, note in found.items() if note]


def _titles(table: TableFile, row: Row, label: str, configs: Path) -> Iterator[tuple[str, str]]:
    """Yield a row's variants with what the notes call them: its label, and in which data sets another stands."""
    names = load_names(configs).datasets if row.by_dataset else {}
    for variant in row.variants:
        where = [names.get(name, name) for name in table.datasets if row.variant_in(name) == variant]
        if not row.by_dataset:
            yield variant, label
        elif where:
            yield variant, f"{label} in {', '.join(where)}"


def _seeds(frame: pd.DataFrame) -> str:
    numbers = sorted(set(frame.loc[frame["n_seeds"] > 0, "n_seeds"]))
    if not numbers:
        return "No cell has been run."
    otherwise = ", unless it says otherwise" if len(numbers) > 1 else ""
    return f"Seeds a cell: {usual_seeds(frame)}{otherwise}."


def _counts(frame: pd.DataFrame) -> str:
    counts = Counter(kind_of(text) for text in frame["verdict"])
    return ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
