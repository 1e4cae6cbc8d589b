"""A round of FedAvg in SM against a plain loop with PyG, and against the bare products and sums of the same steps."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

from benchmarks.bare_graphs import Bare
from benchmarks.graphs import real
from benchmarks.measure import alternate, cpu_ms
from benchmarks.place import Place
from benchmarks.plain import engine_rounds
from benchmarks.pyg_graphs import Loop
from benchmarks.result import Result, compare
from fedbench.configuration.protocol import TrainingSettings
from fedbench.engine.job import use_one_thread
from fedbench.methods.registry import build
from fedbench.tasks.graph.arrays import GraphProblem, load_graphs

# Layers, width, and how many times fewer CPU seconds than the loop are asked for.
SIZES = ((2, 64, 4.0), (3, 64, 3.0), (2, 128, 2.8))
AGAINST_BARE = 2.0
ROUNDS, REPEATS = 4, 6


def run(place: Place) -> list[Result]:
    use_one_thread()
    files = real("sm", place.folder("sm"), "graphs-7")
    problem = load_graphs(files.dataset, files.partition)
    return [row for layers, width, asked in SIZES for row in of_size(problem, layers, width, asked)]


def training_of(layers: int, width: int, rounds: int) -> TrainingSettings:
    """Return FedStar's and GCFL's released schedule with a network of this size."""
    model = {"backbone": "gin", "layers": layers, "width": width, "dropout": 0.5}
    schedule = {"task": "graph", "rounds": rounds, "batch_size": 128, "evaluated_after": "download"}
    adam = {"learning_rate": 0.001, "weight_decay": 5e-4}
    return TrainingSettings.model_validate(schedule | adam | {"model": model})


def of_size(problem: GraphProblem, layers: int, width: int, asked: float) -> list[Result]:
    """Compare one size of network, the three sides in turn inside one process."""
    training = training_of(layers, width, ROUNDS)
    method = build("fedavg", {"weights": "train_nodes"}, training)
    loop, bare = Loop(problem, training), Bare.of(problem, training)
    sides: dict[str, Callable[[], list[float]]] = {
        "ours": lambda: engine_rounds(method, problem),
        "loop": lambda: [cpu_ms(loop.round)],
        "bare": lambda: [cpu_ms(bare.round)],
    }
    runs = {name: list(chain(*times)) for name, times in alternate(sides, REPEATS).items()}
    return results(runs, f"{layers} x {width}", asked)


def results(runs: dict[str, list[float]], size: str, asked: float) -> list[Result]:
    """Return the rows of one size: against the loop, and against the bare products and sums."""
    conditions = (
        f"SM, 7 clients, GIN {size}, batch 128, Adam, 1 thread, CPU, one process; {REPEATS} x {ROUNDS - 1} rounds of "
        f"ours, {REPEATS} of the other, in turn; ours evaluates val and test, the loop test"
    )
    name = f"fedavg in SM, {size}"
    return [
        *compare(f"{name}, vs PyG's loop: round with evaluation", runs["ours"], runs["loop"], target=f">= {asked:g}",
                 unit="CPU ms", conditions=conditions),
        *compare(f"{name}, vs bare products and sums: round with evaluation", runs["ours"], runs["bare"],
                 target=f">= {1 / AGAINST_BARE:g}", unit="CPU ms", conditions=conditions),
    ]  # fmt: skip
