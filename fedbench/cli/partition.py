"""Cut a data set into clients."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "cut a data set into clients"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("dataset", help="name of a file in configs/datasets")
    parser.add_argument("partition", help="<scheme>-<clients>[-s<seed>], for example metis-10")
    parser.add_argument("--dataset-file", type=Path, required=True, help="what `fedbench dataset` wrote")
    parser.add_argument("--out", type=Path, required=True, help="partition file (.npz)")
    parser.add_argument("--configs", type=Path, default=Path("configs"), help="configuration folder")


def run(args: argparse.Namespace) -> None:
    """Cut, and say what came out."""
    from fedbench.partition.build import build_partition
    from fedbench.partition.name import parse_name
    from fedbench.partition.scheme import load_scheme

    name = parse_name(args.partition)
    meta = build_partition(args.dataset, name, load_scheme(name.scheme, args.configs), args.dataset_file, args.out).meta
    kept, cut = meta["kept_edges"], meta["cut_edges"]
    print(f"{args.dataset}/{name}: {meta['clients']} clients, {kept:,} edges kept, {cut:,} cut in {args.out}")
