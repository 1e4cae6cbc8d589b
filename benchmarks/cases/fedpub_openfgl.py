"""FED-PUB against OpenFGL's: CPU milliseconds a round with evaluation, and accuracy."""

from __future__ import annotations

from benchmarks.against_peer import FEDPUB, measure
from benchmarks.place import Place
from benchmarks.result import Result


def run(place: Place) -> list[Result]:
    return measure(FEDPUB, place)
