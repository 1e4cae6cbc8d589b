"""What a round costs in CPU time, and against another method's round."""

from __future__ import annotations

from collections.abc import Sequence

from fedbench.configuration.table import Metric
from fedbench.records.store import Record
from fedbench.stats.cells import Cell
from fedbench.stats.measures import rounds_of
from fedbench.stats.summary import Summary, summarise


def round_costs(cell: Cell, baseline: Cell | None, metric: Metric) -> dict[str, Summary]:
    """Return a round's CPU milliseconds over seeds, and the ratio of the means to the baseline's.

    Training is local training, the server's step and what a method prepares once, spread over the rounds; start-up of
    the process is none of it. What records don't state is left out, as are ratios to a baseline without costs.
    """
    own = _milliseconds(cell.records, metric)
    against = _milliseconds(baseline.records, metric) if baseline else {}
    if not own:
        return {}
    parts = ("training_ms_per_round", "evaluation_ms_per_round")
    if not against:
        return {name: own[name] for name in parts}
    ratios = {
        "times_baseline": own[parts[0]].mean / against[parts[0]].mean,
        "times_baseline_with_evaluation": own["both"].mean / against["both"].mean,
    }
    return {name: own[name] for name in parts} | {
        name: Summary(ratio, float("nan"), own["both"].n) for name, ratio in ratios.items()
    }


def _milliseconds(records: Sequence[Record], metric: Metric) -> dict[str, Summary]:
    pairs = [(cost, 1000 / rounds_of(record)) for record in records for cost in record.header.costs]
    training = {cost.seed: cost.training_seconds * scale for cost, scale in pairs}
    evaluation = {cost.seed: cost.evaluation_seconds * scale for cost, scale in pairs}
    both = {seed: training[seed] + evaluation[seed] for seed in training}
    named = {"training_ms_per_round": training, "evaluation_ms_per_round": evaluation, "both": both}
    return {name: summarise(values, metric.ddof) for name, values in named.items()} if pairs else {}
