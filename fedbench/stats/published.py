"""Published figures: ``configs/published/<file>``, and ``names.yaml`` that says what papers call our data sets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from fedbench.configuration.table import Published
from fedbench.errors import ConfigurationError, nearest
from fedbench.partition.name import parse_name
from fedbench.settings import Settings, parse, read_yaml

KEYS = ["paper", "table", "dataset", "partition", "clients", "method", "metric"]
MethodName = str | Mapping[str, str] | None


class Names(Settings):
    """Ours to published: data sets, partition schemes, metrics."""

    datasets: dict[str, str]
    partitions: dict[str, str]
    metrics: dict[str, str]


@dataclass(frozen=True)
class Figure:
    """A published mean and standard deviation (None: not given) in the table's unit, and its source's place."""

    mean: float
    std: float | None
    source: int = 0


Figures = Mapping[tuple[str, ...], Figure]


class PublishedFigures:
    """The figures of a table's published sources, in the table's order of preference."""

    def __init__(self, names: Names, sources: Sequence[tuple[Published, Figures]]) -> None:
        self._names, self._sources = names, sources

    def get(self, dataset: str, partition: str, method: MethodName, metric: str) -> Figure | None:
        """Return the figure of the first source that has one, or None; see `every`."""
        return next(iter(self.every(dataset, partition, method, metric)), None)

    def every(self, dataset: str, partition: str, method: MethodName, metric: str) -> list[Figure]:
        """Return each source's figure for our data set, partition and metric and the paper's method name.

        A figure that a source prints without a number of clients stands beside every partition, or beside those with
        the source's ``clients``; one with the partition's own number goes before it.
        """
        found = (self._find(place, (dataset, partition, method, metric)) for place in range(len(self._sources)))
        return [figure for figure in found if figure]

    def require(self, methods: Iterable[MethodName]) -> None:
        """Refuse a method that no source names, if there are sources: a misspelt one would count as not published.

        Raises:
            ConfigurationError: names it, and the nearest.
        """
        known = sorted({key[3] for _, figures in self._sources for key in figures})
        asked = [name for method in methods for name in _names(method)]
        unknown = [f"'{name}'{nearest(name, known)}" for name in dict.fromkeys(asked) if name not in known]
        if unknown and self._sources:
            raise ConfigurationError(
                "find published methods",
                found=f"no figure of {', '.join(unknown)} in {'; '.join(source.title for source, _ in self._sources)}",
                allowed=", ".join(known),
                remedy="correct `published` in the table's rows",
            )

    def _find(self, place: int, asked: tuple[str, str, MethodName, str]) -> Figure | None:
        source, figures = self._sources[place]
        dataset, partition, method, metric = asked
        name = parse_name(partition)
        where = (self._names.datasets.get(dataset, ""), source.partition or self._names.partitions.get(name.scheme, ""))
        what = (_name_in(source, method), source.metric or self._names.metrics.get(metric, ""))
        exact = figures.get((*where, str(name.clients), *what))
        loose = source.clients is None or name.clients in source.clients
        return exact or (figures.get((*where, "", *what)) if loose else None)


def _name_in(source: Published, method: MethodName) -> str:
    return (method.get(source.name) if isinstance(method, Mapping) else method) or ""


def _names(method: MethodName) -> tuple[str, ...]:
    return tuple(method.values()) if isinstance(method, Mapping) else (method,) if method else ()


def load_names(configs: Path) -> Names:
    """Read ``configs/published/names.yaml``."""
    path = configs / "published" / "names.yaml"
    return parse(Names, read_yaml(path), str(path))


def load_published(sources: Iterable[Published], configs: Path) -> PublishedFigures:
    """Read the figures of ``sources``.

    Raises:
        ConfigurationError: no such file, other columns, no such paper or table in it, or a figure given twice.
    """
    found = [(source, _load(source, place, configs)) for place, source in enumerate(sources)]
    return PublishedFigures(load_names(configs), found)


def _load(source: Published, place: int, configs: Path) -> Figures:
    path = configs / "published" / source.file
    rows = _of_table(_read(path), source, path)
    keys = list(rows[KEYS[2:]].itertuples(index=False, name=None))
    repeated = sorted({key for key in keys if keys.count(key) > 1})
    if repeated:
        raise ConfigurationError(f"read {path}", found=f"twice: {repeated}", remedy="keep one row a figure")
    figures = (_figure(mean, std, source.scale, place) for mean, std in zip(rows["mean"], rows["std"], strict=True))
    return dict(zip(keys, figures, strict=True))


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
        raise ConfigurationError(
            f"find '{source.title}' in {path}",
            found=f"no such rows{nearest(source.title, known)}",
            allowed="; ".join(known),
        )
    return chosen


def _figure(mean: str, std: str, scale: float, place: int) -> Figure:
    spread = float(std) if std else math.nan
    # Rounded: 100 times a fraction such as 0.9006 must not end in 90.06000000000002.
    return Figure(round(scale * float(mean), 9), None if math.isnan(spread) else round(scale * spread, 9), place)
