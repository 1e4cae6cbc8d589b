"""Confirm that a change of code changed no figure: retrain one record of every method and variant it touches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fedbench.records.check import Present, run_of
from fedbench.records.confirmed import Confirmation
from fedbench.records.pack import Entry, Records
from fedbench.verification.compare import compare
from fedbench.verification.retrain import Retrained, Trainer


def representatives(entries: Iterable[Entry], present: Present) -> list[Entry]:
    """Return the cheapest record of each (method, variant, code) that is stale by its code and nothing else."""
    chosen: dict[tuple[str, str, str], Entry] = {}
    for entry in entries:
        header = entry.record.header
        if present.stale(header) == ["code"]:
            key = (header.method, header.variant, header.digests.code)
            chosen[key] = min(chosen.get(key, entry), entry, key=_seconds)
    return [chosen[key] for key in sorted(chosen)]


def _seconds(entry: Entry) -> float:
    costs = entry.record.header.costs
    return costs[0].total_seconds if costs else float("inf")


def retrain_representatives(records: Records, present: Present, train: Trainer) -> Iterator[Retrained]:
    """Retrain the first seed of each representative and yield its comparison."""
    entries = (entry for entry in map(records.get, records.names()) if entry)
    for entry in representatives(entries, present):
        seed = entry.record.header.seeds[0]
        new = train(run_of(entry.record.header), (seed,))
        yield Retrained(entry, seed, compare(entry.record.table, new.table, seed))


def confirmation_of(done: Retrained, now: str) -> Confirmation:
    """Return what a retrained run confirms, all its figures being equal.

    Args:
        done: the run.
        now: the present code digest of its method.
    """
    header = done.entry.record.header
    return Confirmation(
        method=header.method,
        variant=header.variant,
        made_with=header.digests.code,
        now=now,
        record=done.entry.name,
        seed=done.seed,
        figures=done.comparison.rows,
    )
