"""Jobs on the whole graph of Gowalla in a process of their own, timed without imports and reading.

`python -m benchmarks.gowalla_job <name> <data set file> <partition file> <out.json>`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.place import ROOT
from fedbench.tasks.rec.arrays import ClientPairs, load_rec

CLIENTS, VECTORS, SAMPLE = 4, 128, 50
Figures = dict[str, Any]


def ranking(files: tuple[Path, Path]) -> Figures:
    """Rank all items for all users by random tables; then sort everything for some of them."""
    from fedbench.kernels.allocator import keep_freed_memory
    from fedbench.models.ranking import InnerProduct
    from fedbench.tasks.rec.evaluation import rankings
    from fedbench.tasks.rec.task import TASK
    from fedbench.tasks.task import Place

    torch.set_num_threads(1)
    keep_freed_memory()  # as a training job does
    problem = load_rec(*files)
    (client,) = problem.client_data
    random = np.random.default_rng(0)
    tables = [torch.from_numpy(random.standard_normal((n, 64))).float() for n in (client.users, client.items)]
    scorer, evaluator = InnerProduct(*tables), TASK.evaluator(problem, None, Place())  # type: ignore[arg-type]
    block = TASK.pack([[client]], problem, _model(), Place())
    figures = timed(lambda: evaluator.figures(_Fixed(scorer), {}, block, False))  # type: ignore[arg-type]
    lists = rankings(scorer, client.queries[0], Place().device)["test"]
    return figures | {"sampled": SAMPLE, "identical": agreement(client, scorer, lists)}


class _Fixed:
    def __init__(self, scorer: Any) -> None:
        self._scorer = scorer

    def scorers(self, parameters: Any, block: Any) -> list[Any]:
        return [self._scorer]


def _model() -> Any:
    from fedbench.configuration.protocol import ModelSettings

    return ModelSettings(backbone="lightgcn", width=64, dropout=0.0)


def agreement(client: ClientPairs, scorer: Any, lists: np.ndarray) -> int:
    """Return for how many of the sampled users the list is that of sorting all items."""
    users = client.queries[0].users
    sample = np.random.default_rng(1).choice(len(users), SAMPLE, replace=False)
    same = 0
    for row in sample:
        scores = scorer.scores(torch.tensor([users[row]])).numpy()[0].copy()
        scores[client.train[1][client.train[0] == users[row]]] = -np.inf
        scores[client.val[1][client.val[0] == users[row]]] = -np.inf
        same += np.array_equal(np.argsort(-scores, kind="stable")[:20], lists[row])
    return same


def clustering(files: tuple[Path, Path]) -> Figures:
    """Cut the graph into four clients, from the pairs in memory to a checked partition."""
    from fedbench.datasets.rec.store import RecDataset
    from fedbench.partition.name import PartitionName
    from fedbench.partition.rec.build import partition_of
    from fedbench.partition.scheme import load_scheme

    dataset, scheme = RecDataset.read(files[0]), load_scheme("co-cluster", ROOT / "configs")
    name = PartitionName(scheme="co-cluster", clients=CLIENTS, seed=0)
    return timed(lambda: partition_of(name, scheme, dataset))  # type: ignore[arg-type]


def vectors(files: tuple[Path, Path]) -> Figures:
    """Find the lowest frequencies of the whole graph."""
    from fedbench.kernels.low_pass import low_pass

    (client,) = load_rec(*files).client_data
    return timed(lambda: low_pass([client.taken], VECTORS, torch.float32, torch.device("cpu")))


def timed(work: Callable[[], object]) -> Figures:
    """Return the wall and CPU seconds of some work, and the process's peak memory after it."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu, "peak_mb": peak_mb()}


def peak_mb() -> float:
    """Return this process's largest resident set; getrusage's includes that of the process that started it."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


JOBS = {"ranking": ranking, "clustering": clustering, "vectors": vectors}


def main() -> None:
    name, dataset, partition, out = sys.argv[1:]
    Path(out).write_text(json.dumps(JOBS[name]((Path(dataset), Path(partition)))), encoding="utf-8")


if __name__ == "__main__":
    main()
