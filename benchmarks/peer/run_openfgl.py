"""Run OpenFGL's own FedAvg or FED-PUB on Cora with ten METIS clients, and say what it cost.

Called with the Python of `.bench-env` (see install.sh). OpenFGL's code runs unchanged; three things are done around it:
its random generators are seeded (it parses `--seed` but never applies it), the end of each round is timed, and the
accuracies that it logs are copied. Cora's raw Planetoid files come from `$FEDBENCH_MIRROR/node/Cora/raw`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import resource
import shutil
import statistics
import sys
import time
from pathlib import Path
from typing import Any

os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"  # OpenFGL pickles whole graphs; torch >= 2.6 refuses them
os.environ["OMP_NUM_THREADS"] = "1"

SPLITS = ("train_mask", "val_mask", "test_mask")
SETTINGS = {
    "scenario": "subgraph_fl",
    "dataset": "Cora",
    "simulation_mode": "subgraph_fl_metis",
    "task": "node_cls",
    "train_val_test": "0.2-0.4-0.4",
    "model": "gcn",
    "num_layers": "2",
    "hid_dim": "128",
    "num_epochs": "1",
    "dropout": "0.5",
    "lr": "0.01",
    "weight_decay": "0.0005",
    "metrics": "accuracy",
    "evaluation_mode": "local_model_on_local_data",
}


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--method", choices=("fedavg", "fedpub"), required=True)
    parser.add_argument("--rounds", type=int, default=100, help="0: only cut the graph and export")
    parser.add_argument("--clients", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, required=True, help="scratch folder; keeps the partition between runs")
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write")
    parser.add_argument("--export", type=Path, help="npz file to write: the graph, the partition and the masks")
    return parser.parse_args()


def provide_raw_files(folder: Path) -> None:
    """Copy Cora's raw files to where OpenFGL's loader (PyG's Planetoid) looks before it downloads."""
    target = folder / "global" / "subgraph_fl" / "Cora" / "raw"
    mirror = os.environ.get("FEDBENCH_MIRROR")
    source = Path(mirror or "") / "node" / "Cora" / "raw"
    if target.exists():
        return
    if mirror is None or not source.is_dir():
        sys.exit(f"set FEDBENCH_MIRROR to a folder that has node/Cora/raw (Planetoid files); now: {mirror}")
    shutil.copytree(source, target)


def make_trainer(options: argparse.Namespace) -> Any:
    """Build OpenFGL's trainer as its `main.py` does: arguments from the command line, then `FGLTrainer`."""
    given = SETTINGS | {
        "fl_algorithm": options.method,
        "num_rounds": str(options.rounds),
        "num_clients": str(options.clients),
        "seed": str(options.seed),
        "root": str(options.folder),
    }
    sys.argv = [sys.argv[0], *(word for name, value in given.items() for word in (f"--{name}", value))]
    import stand_ins

    stand_ins.install()
    from openfgl.config import args
    from openfgl.flcore.trainer import FGLTrainer

    seed_everything(options.seed)
    return FGLTrainer(args)


def seed_everything(seed: int) -> None:
    import numpy
    import torch

    torch.set_num_threads(1)
    random.seed(seed)
    numpy.random.seed(seed)  # noqa: NPY002  (the generator that OpenFGL draws from)
    torch.manual_seed(seed)


def watch(trainer: Any) -> tuple[list[float], list[dict[str, float]]]:
    """Note the CPU time at the end of each round, and the accuracies that OpenFGL logs there."""
    ends: list[float] = []
    log: list[dict[str, float]] = []
    evaluate, add_log = trainer.evaluate, trainer.logger.add_log

    def timed_evaluate() -> None:
        evaluate()
        ends.append(time.process_time())

    def copied_log(result: dict[str, float]) -> None:
        log.append(dict(result))
        add_log(result)

    trainer.evaluate, trainer.logger.add_log = timed_evaluate, copied_log
    return ends, log


def train(trainer: Any) -> dict[str, Any]:
    """Run OpenFGL's training loop; what it prints goes to nowhere, as to a file that nobody reads."""
    ends, log = watch(trainer)
    start = time.process_time()
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
        trainer.train()
    rounds = [1000 * (end - begin) for begin, end in zip([start, *ends], ends, strict=False)]
    return {
        "round_ms": rounds,
        "round_ms_median": statistics.median(rounds),
        "round_ms_min": min(rounds),
        "train_s": ends[-1] - start,
        "test_at_best_validation": trainer.evaluation_result["best_test_accuracy"],
        "best_round": trainer.evaluation_result["best_round"],
        "test_last": log[-1]["current_test_accuracy"],
        "test_by_round": [entry["current_test_accuracy"] for entry in log],
    }


def export(trainer: Any, path: Path) -> None:
    """Write the graph, the memberships (client, node) and the splits (0 train, 1 validation, 2 test)."""
    import numpy as np

    graph = trainer.server.task.data
    members = [_members(client.client_id, client.task) for client in trainer.clients]
    client, node, split = (np.concatenate(column) for column in zip(*members, strict=True))
    np.savez_compressed(
        path,
        x=graph.x.numpy(),
        edges=graph.edge_index.numpy(),
        y=graph.y.numpy(),
        client=client,
        node=node,
        split=split,
    )


def _members(client: int, task: Any) -> tuple[Any, Any, Any]:
    import numpy as np

    nodes = np.array([task.data.global_map[place] for place in range(task.num_samples)], dtype=np.int64)
    split = np.full(len(nodes), 3, dtype=np.int8)
    for code, name in enumerate(SPLITS):
        split[getattr(task, name).numpy()] = code
    return np.full(len(nodes), client, dtype=np.int64), nodes, split


def main() -> None:
    options = parse()
    provide_raw_files(options.folder)
    trainer = make_trainer(options)
    if options.export:
        export(trainer, options.export)
    result = train(trainer) if options.rounds else {}
    result |= {
        "method": options.method,
        "seed": options.seed,
        "process_s": time.process_time(),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
