"""One figure of a run by seed and round: the mean over clients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from fedbench.configuration.table import Metric
from fedbench.configuration.table_parts import ClientGroup
from fedbench.errors import RecordError
from fedbench.records.check import run_of
from fedbench.records.store import Record


@dataclass(frozen=True)
class Curve:
    """``values`` float64[seeds, rounds] in the record's unit; seeds and rounds ascend."""

    seeds: tuple[int, ...]
    rounds: tuple[int, ...]
    values: np.ndarray


def curve(records: Sequence[Record], metric: str, split: str, group: ClientGroup | None = None) -> Curve:
    """Return the unweighted mean over clients of ``metric`` on ``split``, from all seed blocks of one run.

    With ``group`` the mean over its clients alone.

    A client's NaN (it has no node in the split) is left out of the mean. A figure that belongs to no single client
    (client -1) counts only where clients have none of their own.

    Raises:
        RecordError: no such figure; a seed in two records; seeds with different rounds; a round in which every
            client's value is NaN.
    """
    where = f"{metric} on {split} of {run_of(records[0].header)}"
    rows = _of_run(records, metric, split, group)
    own = rows[rows["client"] >= 0]
    # Sorted, so that the sum over clients is taken in one order whatever the order of rows and files.
    rows = (rows if own.empty else own).sort_values(["seed", "round", "client"])
    means = rows.groupby(["seed", "round"])["value"].mean().unstack("round")
    seeds, rounds = ([int(label) for label in axis] for axis in (means.index, means.columns))
    return Curve(tuple(seeds), tuple(rounds), _complete(means, rows, where))


def as_read(found: Curve, metric: Metric) -> Curve:
    """Return the curve whose last point is what a table reads, if it reads the mean over several last rounds.

    Each point then is the mean over the evaluated ones among the ``metric.last`` rounds up to it; else it is unchanged.
    """
    if metric.select != "last_rounds":
        return found
    rounds = np.array(found.rounds)
    means = [found.values[:, (rounds > last - metric.last) & (rounds <= last)].mean(axis=1) for last in rounds]
    return Curve(found.seeds, found.rounds, np.stack(means, axis=1))


def has_figure(records: Sequence[Record], metric: str, split: str) -> bool:
    """Tell whether a run's records have any row of a figure."""
    chosen = (pc.field("metric") == metric) & (pc.field("split") == split)
    return any(record.table.filter(chosen).num_rows for record in records)


def values_by_client(records: Sequence[Record], metric: str, split: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a figure's rounds, int64[rounds], and its mean over seeds by client, float64[rounds, clients].

    Raises:
        RecordError: no such figure; a seed in two records.
    """
    ordered = _of_run(records, metric, split).sort_values(["seed", "round", "client"])
    means = ordered.groupby(["round", "client"])["value"].mean().unstack("client")
    return means.index.to_numpy(dtype=np.int64), means.to_numpy(dtype=np.float64)


def by_client(
    records: Sequence[Record], metric: str, split: str
) -> tuple[tuple[int, ...], tuple[int, ...], np.ndarray]:
    """Return seeds, rounds and a figure's values, float64[seeds, rounds, clients]; NaN where a record has it so.

    Raises:
        RecordError: no such figure; a seed in two records; seeds or rounds with different clients or rounds.
    """
    rows = _of_run(records, metric, split).sort_values(["seed", "round", "client"])
    axes = [sorted(int(label) for label in rows[name].unique()) for name in ("seed", "round", "client")]
    shape = tuple(map(len, axes))
    if len(rows) != np.prod(shape):
        raise RecordError(
            f"combine the seeds of {metric} on {split} of {run_of(records[0].header)}",
            found=f"{len(rows)} values of {shape[0]} seeds, {shape[1]} rounds and {shape[2]} clients",
            allowed="one a seed, round and client",
            remedy="run the seeds with the same settings",
        )
    return tuple(axes[0]), tuple(axes[1]), rows["value"].to_numpy(dtype=np.float64).reshape(shape)


def _of_run(records: Sequence[Record], metric: str, split: str, group: ClientGroup | None = None) -> pd.DataFrame:
    where = f"{metric} on {split} of {run_of(records[0].header)}"
    _refuse_shared_seeds(records, where)
    rows = _of_group(pd.concat([_rows(record, metric, split) for record in records]), group)
    if rows.empty:
        raise RecordError(f"read {where}", found="no such rows", remedy="record this figure, or drop the method's row")
    return rows


def _rows(record: Record, metric: str, split: str) -> pd.DataFrame:
    chosen = (pc.field("metric") == metric) & (pc.field("split") == split)
    return record.table.filter(chosen).select(["seed", "round", "client", "value"]).to_pandas()


def _of_group(rows: pd.DataFrame, group: ClientGroup | None) -> pd.DataFrame:
    return rows if group is None else rows[rows["client"].between(group.first, group.last)]


def _refuse_shared_seeds(records: Sequence[Record], where: str) -> None:
    seeds = [seed for record in records for seed in record.header.seeds]
    shared = sorted({seed for seed in seeds if seeds.count(seed) > 1})
    if shared:
        raise RecordError(
            f"combine the records of {where}",
            found=f"seeds {shared} in more than one record",
            allowed="each seed once",
            remedy="delete the records of the block you don't want",
        )


def _complete(means: pd.DataFrame, rows: pd.DataFrame, where: str) -> np.ndarray:
    """Return the means if every seed has every round and a number there."""
    counts = rows.groupby("round")["seed"].nunique()
    uneven = counts[counts < len(means)].index.tolist()
    if uneven:
        raise RecordError(
            f"combine the seeds of {where}",
            found=f"round {uneven[0]} is missing for some seed",
            allowed="the same rounds for every seed",
            remedy="run the seeds with the same settings",
        )
    values = means.to_numpy(dtype=np.float64)
    if np.isnan(values).any():
        seed, number = (axis[place] for axis, place in zip(means.axes, np.argwhere(np.isnan(values))[0], strict=True))
        raise RecordError(
            f"average {where} over clients",
            found=f"only NaN in round {number} of seed {seed}: no client has a node in this split",
            allowed="at least one client with a value",
            remedy="choose a partition or split with nodes to evaluate on",
        )
    return values
