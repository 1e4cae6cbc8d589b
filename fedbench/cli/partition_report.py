"""Describe a partition client by client: sizes, splits, and what its task has to say of each client."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HELP = "describe a partition client by client"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("partition_file", type=Path, help="what `fedbench partition` wrote, <partition>.npz")
    parser.add_argument("--dataset-file", type=Path, required=True, help="what `fedbench dataset` wrote")
    parser.add_argument("--csv", type=Path, required=True, help="tidy table: one row a client and measure")
    parser.add_argument("--markdown", type=Path, required=True, help="the same for people")


def run(args: argparse.Namespace) -> None:
    """Write both files, and warn about what makes a client's figures shaky."""
    from fedbench.files import write_text
    from fedbench.partition.describe import describe

    found = describe(args.partition_file, args.dataset_file)
    write_text(args.csv, found.csv)
    write_text(args.markdown, found.markdown)
    for text in found.warnings:
        print(f"warning: {found.dataset}/{args.partition_file.stem}: {text}", file=sys.stderr)
