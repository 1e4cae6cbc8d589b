"""What the tests of single theorems share."""

from collections.abc import Iterable

from fedbench.theorems._row import Row


def pick(rows: Iterable[Row], statement: str, *words: str) -> list[Row]:
    """Return the rows of a statement whose claim or setting has every word; at least one."""
    found = [
        row for row in rows if row.statement == statement and all(w in f"{row.claim} {row.setting}" for w in words)
    ]
    assert found, words
    return found


def held(rows: Iterable[Row]) -> set[bool]:
    """Return the outcomes that occur."""
    return {row.holds for row in rows}
