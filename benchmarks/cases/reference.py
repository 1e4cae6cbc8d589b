"""FedAvg, FED-PUB and FedAux against the plain reference: one client after another, PyG layers, torch's Adam."""

from __future__ import annotations

from itertools import chain

from benchmarks.graphs import cora
from benchmarks.measure import alternate
from benchmarks.place import Place
from benchmarks.plain import engine_rounds, plain_rounds
from benchmarks.result import Result, compare
from fedbench.engine.job import use_one_thread
from fedbench.tasks.node.arrays import NodeProblem, load_problem
from tests.reference.match import method_of

METHODS = {"fedavg": "default", "fedpub": "released", "fedaux": "paper"}
ROUNDS, REPEATS = 15, 3


def run(place: Place) -> list[Result]:
    use_one_thread()
    files = cora(place.folder("cora"))
    problem = load_problem(files.dataset, files.partition)
    return [row for name in METHODS for row in rounds_of(name, problem)]


def rounds_of(name: str, problem: NodeProblem) -> list[Result]:
    """Compare one method, short runs in alternation."""
    method = method_of(name, METHODS[name], {"rounds": ROUNDS})
    runs = alternate(
        {"ours": lambda: engine_rounds(method, problem), "plain": lambda: plain_rounds(method, name, problem)}, REPEATS
    )
    return compare(
        f"{name} ({METHODS[name]}) vs plain reference: round with evaluation",
        list(chain(*runs["ours"])),
        list(chain(*runs["plain"])),
        target=">= 5",
        unit="CPU ms",
        conditions=f"Cora (largest component), metis-10, the suite's settings, 1 thread, CPU, one process; "
        f"{REPEATS} x {ROUNDS - 1} rounds of each, in turn",
    )
