"""Published figures: ``configs/published/<file>``, and ``names.yaml`` that says what papers call our data sets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from fedbench.configuration.table import Published
from fedbench.errors import ConfigurationError, nearest
from fedbench.partition.name import parse_name
from fedbench.settings import Settings, parse, read_yaml

KEYS = ["paper", "table", "dataset", "partition", "clients", "method", "metric"]


class Names(Settings):
    """Ours to published: data sets, partition schemes, metrics."""

    datasets: dict[str, str]
    partitions: dict[str, str]
    metrics: dict[str, str]


@dataclass(frozen=True)
class Figure:
    """A published mean and standard deviation (None: not given), in the table's unit."""

    mean: float
    std: float | None


class PublishedFigures:
    """The figures of one table of one paper."""

    def __init__(self, names: Names, figures: dict[tuple[str, ...], Figure]) -> None:
        self._names, self._figures = names, figures

    def get(self, dataset: str, partition: str, method: str | None, metric: str) -> Figure | None:
        """Return the figure for our data set, partition and metric and the paper's method name, or None."""
        name = parse_name(partition)
        theirs = (
            self._names.datasets.get(dataset, ""),
            self._names.partitions.get(name.scheme, ""),
            str(name.clients),
            method or "",
            self._names.metrics.get(metric, ""),
        )
        return self._figures.get(theirs)


def load_names(configs: Path) -> Names:
    """Read ``configs/published/names.yaml``."""
    path = configs / "published" / "names.yaml"
    return parse(Names, read_yaml(path), str(path))


def load_published(source: Published | None, configs: Path) -> PublishedFigures:
    """Read the figures of ``source``; no figures if it is None.

    Raises:
        ConfigurationError: no such file, other columns, no such paper or table in it, or a figure given twice.
    """
    names = load_names(configs)
    if source is None:
        return PublishedFigures(names, {})
    path = configs / "published" / source.file
    rows = _of_table(_read(path), source, path)
    keys = list(rows[KEYS[2:]].itertuples(index=False, name=None))
    repeated = sorted({key for key in keys if keys.count(key) > 1})
    if repeated:
        raise ConfigurationError(f"read {path}", found=f"twice: {repeated}", remedy="keep one row a figure")
    return PublishedFigures(names, dict(zip(keys, map(_figure, rows["mean"], rows["std"]), strict=True)))


def _read(path: Path) -> pd.DataFrame:
    try:
        rows = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as error:
        known = [other.name for other in path.parent.glob("*.csv")]
        found = f"{type(error).__name__}: {error}{nearest(path.name, known)}"
        raise ConfigurationError(f"read {path}", found=found, allowed=", ".join(known)) from error
    lacking = [name for name in [*KEYS, "mean", "std"] if name not in rows.columns]
    if lacking:
        raise ConfigurationError(f"read {path}", found=f"no column {', '.join(lacking)}", remedy=f"correct {path}")
    return rows


def _of_table(rows: pd.DataFrame, source: Published, path: Path) -> pd.DataFrame:
    chosen = rows[(rows["paper"] == source.paper) & (rows["table"] == source.table)]
    if chosen.empty:
        known = sorted({f"{paper}, {table}" for paper, table in zip(rows["paper"], rows["table"], strict=True)})
        asked = f"{source.paper}, {source.table}"
        raise ConfigurationError(
            f"find '{asked}' in {path}", found=f"no such rows{nearest(asked, known)}", allowed="; ".join(known)
        )
    return chosen


def _figure(mean: str, std: str) -> Figure:
    spread = float(std) if std else math.nan
    return Figure(float(mean), None if math.isnan(spread) else spread)
