"""Turn raw files into one canonical data set file."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "turn raw files into a data set file"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("dataset", help="name of a file in configs/datasets")
    parser.add_argument("--raw", type=Path, required=True, help="folder that `fedbench fetch` filled")
    parser.add_argument("--out", type=Path, required=True, help="data set file (.npz); <name>.origin.npz is put beside")
    parser.add_argument("--configs", type=Path, default=Path("configs"), help="configuration folder")


def run(args: argparse.Namespace) -> None:
    """Build, and say what is in it."""
    from fedbench.datasets.build import build_dataset
    from fedbench.sources.catalogue import load_entry

    meta = build_dataset(load_entry(args.dataset, args.configs), args.raw, args.out).meta
    counts = ", ".join(f"{meta[name]:,} {name}" for name in ("nodes", "edges", "features", "classes"))
    print(f"{args.dataset}: {counts} in {args.out}")
