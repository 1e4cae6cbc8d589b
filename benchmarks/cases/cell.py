"""A whole cell, 3 seeds x 100 rounds of FedAvg from process start to record, against OpenFGL run three times."""

from __future__ import annotations

from benchmarks.against_peer import CONDITIONS, FEDAVG
from benchmarks.graphs import from_peer
from benchmarks.measure import alternate
from benchmarks.peer.drive import Peer, installed
from benchmarks.place import Place
from benchmarks.result import Result, compare
from benchmarks.training_job import TrainingJob

REPEATS = 2


def run(place: Place) -> list[Result]:
    peer = installed(place)
    problem = from_peer(peer.partition, place.folder("peer-cora"))
    training = FEDAVG.same | FEDAVG.training
    job = TrainingJob(problem, "fedavg", place.folder("cell"), FEDAVG.settings, training)
    seconds = alternate({"ours": lambda: job.run("0-2").cpu_s, "peer": lambda: three_processes(peer)}, REPEATS)
    return compare(
        "whole cell, 3 seeds, vs OpenFGL 3 times",
        seconds["ours"],
        seconds["peer"],
        target=">= 8",
        unit="CPU s",
        conditions=f"FedAvg, {CONDITIONS}; process start to result, partition cached; {REPEATS} times each, in turn",
    )


def three_processes(peer: Peer) -> float:
    """Return the CPU seconds of the peer's three runs; it trains one seed a process."""
    return sum(peer.run("fedavg", seed).usage.cpu_s for seed in range(3))
