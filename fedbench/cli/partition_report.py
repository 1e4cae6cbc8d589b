"""Describe a partition client by client: sizes, splits, missing links and label skew."""

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
    """Write both files and warn about absent classes and empty splits."""
    from fedbench.datasets.node import read_dataset
    from fedbench.files import write_text
    from fedbench.partition.check import check_same_dataset
    from fedbench.partition.measures import measure, warnings
    from fedbench.partition.report import csv_text, markdown_text
    from fedbench.partition.store import read_partition

    partition, dataset = read_partition(args.partition_file), read_dataset(args.dataset_file)
    check_same_dataset(partition, dataset)
    measures, name = measure(partition, dataset), args.partition_file.stem
    write_text(args.csv, csv_text(name, partition, measures))
    write_text(args.markdown, markdown_text(name, partition, dataset, measures))
    for text in warnings(measures):
        print(f"warning: {dataset.name}/{name}: {text}", file=sys.stderr)
