"""Does a GPU compute what the CPU computes, and how fast? Run by `gpu_check.sh`; prints one JSON line a figure.

Correctness comes first and stops the script: every method for nodes and for graphs, ten rounds in double precision,
five seeds in one packed step on the GPU against the same seeds one by one on the CPU; graphs' clients have unlike
widths, so that packing pads them. Then speed: rounds of a Cora-like cell, of larger ones and of a cell of graphs, CPU
(one thread, one seed) against GPU (1, 3 and 5 seeds packed).
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.graphs import synthetic
from benchmarks.random_graphs import random_graphs
from fedbench.configuration.merge import merged
from fedbench.configuration.method import Variant, load_method_file
from fedbench.configuration.protocol import TASK_BACKBONES, TrainingSettings
from fedbench.engine.job import use_one_thread
from fedbench.engine.run import run
from fedbench.methods.base import Method
from fedbench.methods.registry import build, method_names
from fedbench.tasks.node.arrays import NodeProblem, load_problem
from fedbench.tasks.task import Place, Problem

CONFIGS = Path(__file__).resolve().parents[1] / "configs"
TOLERANCE = {"node": 1e-9, "graph": 1e-6}  # FedSSP's released optimiser divides gradients by their own size
SEEDS = (0, 1, 2, 3, 4)
SMALL: dict[str, dict[str, Any]] = {
    "node": {"model": {"width": 16}},
    "graph": {"task": "graph", "batch_size": 8, "learning_rate": 0.01, "model": {"backbone": "gin", "width": 16}},
}
TIMED: dict[str, dict[str, Any]] = {
    "node": {},
    "graph": {"task": "graph", "batch_size": 128, "model": {"backbone": "gin", "width": 128}},
}
Name = tuple[str, str]
"""Method and variant."""


def main() -> int:
    """Run both parts; return 1 if a method differs."""
    if not torch.cuda.is_available():
        print("gpu_check: torch sees no CUDA device", file=sys.stderr)
        return 2
    use_one_thread()
    say("device", name=torch.cuda.get_device_name(), torch=torch.__version__)
    with tempfile.TemporaryDirectory() as folder:
        small: dict[str, Problem] = {
            "node": problem_of(Path(folder), 3, 40, 30),
            "graph": random_graphs((30, 12, 21), 9),
        }
        pairs = [(task, name) for task in small for name in variants(task)]
        wrong = [(task, name) for task, name in pairs if not agrees(task, name, small[task])]
        say("correctness", methods=len(pairs), differing=[f"{task}: {'/'.join(name)}" for task, name in wrong])
        if wrong:
            return 1
        of_nodes = [("fedavg", "default"), ("fedpub", "released"), ("fedaux", "released")]
        for clients, nodes in ((10, 250), (20, 1000), (5, 20_000)):
            problem = problem_of(Path(folder), clients, nodes, 1433)
            compare_speed("node", of_nodes, problem, clients=clients, nodes_per_client=nodes)
        of_graphs = [("fedavg", "train_nodes"), ("fedstar", "default"), ("fedssp", "paper"), ("fedigl", "default")]
        compare_speed("graph", of_graphs, random_graphs((500, 1000, 2000) * 2, 40), clients=6, graphs=7000)
    return 0


def say(what: str, **values: Any) -> None:
    """Print one figure."""
    print(json.dumps({"what": what, **values}), flush=True)


def variants(task: str) -> list[Name]:
    """Return every (method, variant) for a task."""
    files = {name: load_method_file(name, CONFIGS) for name in method_names()}
    own = [(name, file.variants) for name, file in files.items() if task in file.tasks]
    return [(name, variant) for name, chosen in own for variant in chosen if _is_for(chosen[variant], task)]


def _is_for(variant: Variant, task: str) -> bool:
    """Tell whether a variant's network is one of the task, or the protocol's own; masks are for nodes."""
    model = variant.training.get("model", {})
    first = TASK_BACKBONES[task][0]
    return model.get("backbone", first) in TASK_BACKBONES[task] and (task == "node" or not model)


def problem_of(folder: Path, clients: int, nodes: int, features: int) -> NodeProblem:
    """Return a synthetic problem."""
    files = synthetic(folder, clients, nodes, features=features)
    return load_problem(files.dataset, files.partition)


def method_of(name: Name, training: dict[str, Any]) -> Method[Any]:
    """Return a method's variant with some training settings replaced."""
    variant = load_method_file(name[0], CONFIGS).variants[name[1]]
    return build(name[0], variant.method, TrainingSettings.model_validate(merged(variant.training, training)))


def agrees(task: str, name: Name, problem: Problem) -> bool:
    """Tell whether the packed GPU run equals the CPU's runs, all measurements within `TOLERANCE`."""
    gap = largest_gap(method_of(name, SMALL[task] | {"rounds": 10}), problem, torch.device("cuda"))
    say("agreement", task=task, method="/".join(name), largest_gap=gap)
    return gap <= TOLERANCE[task]


def largest_gap(method: Method[Any], problem: Problem, device: torch.device) -> float:
    """Return how far any measurement of all seeds packed on a device is from that of a seed alone on the CPU."""
    packed = run(method, problem, SEEDS, Place(torch.float64, device))
    gaps = [0.0]
    for seed in SEEDS:
        alone = run(method, problem, (seed,), Place(torch.float64)).history.columns(seed)
        gaps.append(float(np.max(np.abs(packed.history.columns(seed)["value"] - alone["value"]))))
    return max(gaps)


def compare_speed(task: str, names: list[Name], problem: Problem, **sizes: int) -> None:
    """Print milliseconds a round and seed on CPU and GPU."""
    for name in names:
        figures = {"cpu": seconds_a_round(task, name, problem, (0,), "cpu")}
        for count in (1, 3, 5):
            figures[f"gpu_{count}_seeds"] = seconds_a_round(task, name, problem, SEEDS[:count], "cuda")
        rounded = {key: round(1e3 * value, 3) for key, value in figures.items()}
        say("ms_per_round_and_seed", task=task, method="/".join(name), **sizes, **rounded)


def seconds_a_round(task: str, name: Name, problem: Problem, seeds: tuple[int, ...], device: str) -> float:
    """Return wall seconds a round and seed, start-up taken out by the difference of two lengths."""
    place, lengths = Place(torch.float32, torch.device(device)), (5, 25) if task == "node" else (1, 4)
    short, long = (_wall(method_of(name, TIMED[task] | {"rounds": n}), problem, seeds, place) for n in lengths)
    return (long - short) / (lengths[1] - lengths[0]) / len(seeds)


def _wall(method: Method[Any], problem: Problem, seeds: tuple[int, ...], place: Place) -> float:
    start = time.perf_counter()
    run(method, problem, seeds, place)
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
