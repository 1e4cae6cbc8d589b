"""The figures of one cell, by kind of table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from fedbench.configuration.table import Metric
from fedbench.records.schema import SeedCost
from fedbench.records.store import Record
from fedbench.stats.clients import CLIENTS, FAIRNESS, over_clients
from fedbench.stats.selection import select
from fedbench.stats.summary import Summary, summarise

Measures = dict[str, Summary]
Costs = dict[str, Callable[[SeedCost, Record], float]]


def measure(kind: str, records: Sequence[Record], metric: Metric) -> Measures:
    """Return the figures of a cell: name and summary over seeds.

    ``records`` are all seed blocks of one run. Costs that a record doesn't state are left out.

    Raises:
        RecordError: a figure can't be read off the records.
    """
    return KINDS[kind](records, metric)


def selected_values(records: Sequence[Record], metric: Metric) -> dict[int, float]:
    """Return each seed's selected figure in the table's unit (``metric.scale``)."""
    chosen = select(records, metric)
    return dict(zip(chosen.seeds, (metric.scale * chosen.values).tolist(), strict=True))


def rounds_of(record: Record) -> int:
    """Return the number of rounds a record was trained for; an outside program's last round stands for it."""
    stated = record.header.settings.get("training", {}).get("rounds")
    return int(stated or max(record.table["round"].to_pylist()))


def _figure(records: Sequence[Record], metric: Metric) -> Measures:
    return {metric.key: summarise(selected_values(records, metric), metric.ddof)}


def _costs(costs: Costs, records: Sequence[Record], metric: Metric) -> Measures:
    pairs = [(cost, record) for record in records for cost in record.header.costs]
    if not pairs:
        return {}
    return {
        name: summarise({cost.seed: float(read(cost, record)) for cost, record in pairs}, metric.ddof)
        for name, read in costs.items()
    }


COMMUNICATION: Costs = {
    "bytes_up_per_round": lambda cost, record: cost.bytes_up / rounds_of(record),
    "bytes_down_per_round": lambda cost, record: cost.bytes_down / rounds_of(record),
    "bytes_total": lambda cost, record: cost.bytes_up + cost.bytes_down,
    "parameters": lambda cost, record: cost.parameters,
}
SECONDS: Costs = {
    "training_seconds": lambda cost, record: cost.training_seconds,
    "evaluation_seconds": lambda cost, record: cost.evaluation_seconds,
    "total_seconds": lambda cost, record: cost.total_seconds,
    "peak_memory_mb": lambda cost, record: record.header.peak_memory_mb,
}
BY_KIND = {"communication": COMMUNICATION, "seconds": SECONDS}
ROUNDS = ("training_ms_per_round", "evaluation_ms_per_round", "times_baseline", "times_baseline_with_evaluation")
OVER_CLIENTS = {"clients": CLIENTS, "fairness": FAIRNESS}
KINDS: dict[str, Callable[[Sequence[Record], Metric], Measures]] = {
    "figure": _figure,
    **{kind: partial(_costs, costs) for kind, costs in BY_KIND.items()},
    **{kind: partial(over_clients, figures) for kind, figures in OVER_CLIENTS.items()},
}


def metrics_of(kind: str, metric: Metric) -> tuple[str, ...]:
    """Return the names of the figures that a table of this kind has in every cell."""
    several = {**BY_KIND, **OVER_CLIENTS, "rounds": ROUNDS}.get(kind)
    if several:
        return tuple(several)
    return (f"{metric.name}_difference",) if kind == "paired" else (metric.key,)
