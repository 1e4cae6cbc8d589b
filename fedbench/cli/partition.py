"""Cut a data set into clients."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
    scheme = load_scheme(name.scheme, args.configs)
    meta = build_partition(args.dataset, name, scheme, args.dataset_file, args.out).meta
    print(f"{args.dataset}/{name}: {meta['clients']} clients, {SAID[scheme.task](meta)} in {args.out}")


def _edges(meta: dict[str, Any]) -> str:
    return f"{meta['kept_edges']:,} edges kept, {meta['cut_edges']:,} cut"


def _graphs(meta: dict[str, Any]) -> str:
    return ", ".join(f"{sum(meta[split]):,} {split} graphs" for split in ("train", "val", "test"))


def _pairs(meta: dict[str, Any]) -> str:
    kept, cut, outside = meta["kept_edges"], meta["cut_edges"], meta["test_outside"]
    return f"{kept:,} training pairs kept, {cut:,} cut, {outside:.1%} of the test pairs outside"


SAID: dict[str, Callable[[dict[str, Any]], str]] = {"node": _edges, "graph": _graphs, "rec": _pairs}
