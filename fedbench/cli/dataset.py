"""Turn raw files into one canonical data set file."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
    print(f"{args.dataset}: {SAID[meta['task']](meta)} in {args.out}")


def _counts(meta: dict[str, Any], *names: str) -> str:
    return ", ".join(f"{meta[name]:,} {name}" for name in names)


def _nodes(meta: dict[str, Any]) -> str:
    return _counts(meta, "nodes", "edges", "features", "classes")


def _graphs(meta: dict[str, Any]) -> str:
    whole = _counts(meta, "graphs", "nodes", "edges")
    if "members" in meta:
        return f"{len(meta['members'])} data sets, {whole}"
    return f"{whole}, {_counts(meta, 'features', 'classes')}"


def _pairs(meta: dict[str, Any]) -> str:
    pairs = meta["pairs"]
    return f"{_counts(meta, 'users', 'items')}, {sum(pairs.values()):,} pairs ({_counts(pairs, *pairs)})"


SAID: dict[str, Callable[[dict[str, Any]], str]] = {"node": _nodes, "graph": _graphs, "rec": _pairs}
