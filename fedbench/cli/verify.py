"""Retrain a random sample of packed records and compare every figure."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "retrain a random sample of records and compare"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument(
        "--bundle", type=Path, default=Path("reports/paper/records"), help="bundle, or a folder of records"
    )
    parser.add_argument("--sample", type=int, default=3, help="number of (run, seed) pairs to retrain")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--tolerance", type=float, default=0.0, help="allowed difference of a figure (1: everything)")
    parser.add_argument("--configs", type=Path, default=Path("configs"), help="configuration folder")
    parser.add_argument("--results", type=Path, default=Path("results"), help="folder with datasets/ and partitions/")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")


def run(args: argparse.Namespace) -> int:
    """Print one line a retrained run; status 1 on any difference above the tolerance."""
    from fedbench.records.pack import open_records
    from fedbench.verification.retrain import engine_trainer, retrain

    trainer = engine_trainer(args.configs, args.results, args.device)
    wrong = 0
    for done in retrain(open_records(args.bundle), trainer, args.sample, args.seed):
        found = done.comparison
        good = found.within(args.tolerance)
        wrong += not good
        print(
            f"{'same' if good else 'DIFFERS':7} {done.entry.name}, seed {done.seed}: {found.rows} figures, "
            f"{found.missing} missing, {found.differing} differ, largest difference {found.largest:g}",
            flush=True,
        )
    return 1 if wrong else 0
