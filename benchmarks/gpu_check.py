"""Does a GPU compute what the CPU computes, and how fast? Run by `gpu_check.sh`; prints one JSON line a figure.

Correctness comes first and stops the script: every method, ten rounds in double precision, five seeds in one packed
step on the GPU against the same seeds one by one on the CPU. Then speed: rounds of a Cora-like cell and of larger
ones, CPU (one thread, one seed) against GPU (1, 3 and 5 seeds packed).
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
from fedbench.configuration.merge import merged
from fedbench.configuration.method import Variant, load_method_file
from fedbench.configuration.protocol import TASK_BACKBONES, TrainingSettings
from fedbench.engine.job import use_one_thread
from fedbench.engine.run import run
from fedbench.methods.base import Method
from fedbench.methods.registry import build, method_names
from fedbench.tasks.node.arrays import NodeProblem, load_problem
from fedbench.tasks.task import Place

CONFIGS = Path(__file__).resolve().parents[1] / "configs"
TOLERANCE = 1e-9
SEEDS = (0, 1, 2, 3, 4)
BACKBONES = TASK_BACKBONES["node"]


def main() -> int:
    """Run both parts; return 1 if a method differs."""
    if not torch.cuda.is_available():
        print("gpu_check: torch sees no CUDA device", file=sys.stderr)
        return 2
    use_one_thread()
    say("device", name=torch.cuda.get_device_name(), torch=torch.__version__)
    with tempfile.TemporaryDirectory() as folder:
        wrong = [name for name in variants() if not agrees(name, problem_of(Path(folder), 3, 40, 30))]
        say("correctness", methods=len(variants()), differing=["/".join(name) for name in wrong])
        if wrong:
            return 1
        for clients, nodes in ((10, 250), (20, 1000), (5, 20_000)):
            compare_speed(problem_of(Path(folder), clients, nodes, 1433), clients, nodes)
    return 0


def say(what: str, **values: Any) -> None:
    """Print one figure."""
    print(json.dumps({"what": what, **values}), flush=True)


def variants() -> list[tuple[str, str]]:
    """Return every (method, variant) for nodes."""
    files = {name: load_method_file(name, CONFIGS) for name in method_names()}
    of_nodes = [(name, file.variants) for name, file in files.items() if "node" in file.tasks]
    return [(name, variant) for name, own in of_nodes for variant in own if _backbone(own[variant]) in BACKBONES]


def _backbone(variant: Variant) -> str:
    """Return the backbone that a variant asks for, or the protocols' own."""
    return str(variant.training.get("model", {}).get("backbone", "gcn"))


def problem_of(folder: Path, clients: int, nodes: int, features: int) -> NodeProblem:
    """Return a synthetic problem."""
    files = synthetic(folder, clients, nodes, features=features)
    return load_problem(files.dataset, files.partition)


def method_of(name: tuple[str, str], **training: Any) -> Method[Any]:
    """Return a method's variant with some training settings replaced."""
    variant = load_method_file(name[0], CONFIGS).variants[name[1]]
    return build(name[0], variant.method, TrainingSettings.model_validate(merged(variant.training, training)))


def agrees(name: tuple[str, str], problem: NodeProblem) -> bool:
    """Tell whether the packed GPU run equals the CPU's runs, all measurements within `TOLERANCE`."""
    method = method_of(name, rounds=10, model={"width": 16})
    packed = run(method, problem, SEEDS, Place(torch.float64, torch.device("cuda")))
    gap = 0.0
    for seed in SEEDS:
        alone = run(method, problem, (seed,), Place(torch.float64)).history.columns(seed)
        gap = max(gap, float(np.max(np.abs(packed.history.columns(seed)["value"] - alone["value"]))))
    say("agreement", method="/".join(name), largest_gap=gap)
    return gap <= TOLERANCE


def compare_speed(problem: NodeProblem, clients: int, nodes: int) -> None:
    """Print milliseconds a round and seed on CPU and GPU."""
    for name in (("fedavg", "default"), ("fedpub", "released"), ("fedaux", "released")):
        figures = {"cpu": seconds_a_round(name, problem, (0,), "cpu")}
        for count in (1, 3, 5):
            figures[f"gpu_{count}_seeds"] = seconds_a_round(name, problem, SEEDS[:count], "cuda")
        rounded = {key: round(1e3 * value, 3) for key, value in figures.items()}
        say("ms_per_round_and_seed", method="/".join(name), clients=clients, nodes_per_client=nodes, **rounded)


def seconds_a_round(name: tuple[str, str], problem: NodeProblem, seeds: tuple[int, ...], device: str) -> float:
    """Return wall seconds a round and seed, start-up taken out by the difference of two lengths."""
    place = Place(torch.float32, torch.device(device))
    short, long = (_wall(method_of(name, rounds=rounds), problem, seeds, place) for rounds in (5, 25))
    return (long - short) / 20 / len(seeds)


def _wall(method: Method[Any], problem: NodeProblem, seeds: tuple[int, ...], place: Place) -> float:
    start = time.perf_counter()
    run(method, problem, seeds, place)
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
