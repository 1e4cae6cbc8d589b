"""Confirm that a change of code changed no figure: retrain one record of every method and variant it touches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fedbench.errors import RecordError
from fedbench.records.check import Present, run_of
from fedbench.records.confirmed import Confirmation
from fedbench.records.pack import Entry, Records
from fedbench.records.store import Record
from fedbench.verification.compare import compare
from fedbench.verification.retrain import Retrained, Trainer


def representatives(entries: Iterable[Entry], present: Present) -> list[Entry]:
    """Return the cheapest record of each (method, variant, code) that is stale by its code and nothing else.

    Code that earlier confirmations found to be alike counts as one.
    """
    chosen: dict[tuple[str, str, str], Entry] = {}
    for entry in entries:
        header = entry.record.header
        if present.stale(header) == ["code"]:
            key = (header.method, header.variant, min(present.confirmed.alike(header)))
            chosen[key] = min(chosen.get(key, entry), entry, key=_seconds)
    return [chosen[key] for key in sorted(chosen)]


def _seconds(entry: Entry) -> float:
    costs = entry.record.header.costs
    return costs[0].total_seconds if costs else float("inf")


def retrain_representatives(
    records: Records, present: Present, train: Trainer, before: Trainer | None = None
) -> Iterator[Retrained]:
    """Retrain the first seed of each representative and yield its comparison.

    Args:
        records: what to choose from.
        present: digests as they are now, and earlier confirmations.
        train: trains with the present code.
        before: trains with the code of the records. What doesn't come out as stored is compared with what that code
            gives here: another processor rounds otherwise, whatever the code.

    Raises:
        RecordError: ``before`` has other code than the record, and none that is confirmed to equal it.
    """
    entries = (entry for entry in map(records.get, records.names()) if entry)
    for entry in representatives(entries, present):
        run, seed = run_of(entry.record.header), entry.record.header.seeds[0]
        new = train(run, (seed,))
        found = compare(entry.record.table, new.table, seed)
        if before and not found.within(0.0):
            old = before(run, (seed,))
            _require_same_code(entry, old, present)
            found = compare(old.table, new.table, seed)
        yield Retrained(entry, seed, found)


def _require_same_code(entry: Entry, old: Record, present: Present) -> None:
    code, made_with = old.header.digests.code, entry.record.header.digests.code
    if code != made_with and not present.confirmed.cover(entry.record.header, code):
        raise RecordError(
            f"confirm {entry.name} against an earlier checkout",
            found=f"its code has the digest {code}",
            allowed=f"{made_with}, or one that is confirmed for it",
            remedy="give the checkout with which the records were made or confirmed last",
        )


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
