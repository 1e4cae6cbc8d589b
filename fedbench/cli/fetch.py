"""Fetch a data set's raw files from the first source that has them, checked against the catalogue."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HELP = "fetch a data set's raw files"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("dataset", help="name of a file in configs/datasets")
    parser.add_argument("--out", type=Path, required=True, help="folder for the raw files")
    parser.add_argument("--configs", type=Path, default=Path("configs"), help="configuration folder")


def run(args: argparse.Namespace) -> None:
    """Fetch, and say which source answered."""
    from fedbench.sources.catalogue import load_entry
    from fedbench.sources.fetch_entry import fetch_entry

    for title, fetched in fetch_entry(load_entry(args.dataset, args.configs), args.out):
        for reason in fetched.passed_over:
            print(f"passed over {reason}", file=sys.stderr)
        print(f"{title}: {len(fetched.source.files)} files from {fetched.source.name} in {args.out}")
