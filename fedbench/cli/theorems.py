"""Measure what papers' theorems claim, on small exact cases, and say which claims hold."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "measure what papers' theorems claim"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("theorems", nargs="*", help="names of modules in fedbench/theorems (default: all)")
    parser.add_argument("--out", type=Path, default=Path("reports/theorems.csv"), help="table; <out>.md is put beside")


def run(args: argparse.Namespace) -> None:
    """Write both files and print how many claims hold; a claim that fails is a finding, not an error.

    A theorem with ``curves`` has a plot, ``<out without suffix>-<name>.pdf`` and ``.png``.
    """
    from fedbench.figures._curves import write_curves
    from fedbench.files import write_text
    from fedbench.theorems._catalogue import measure_theorems, plots_of
    from fedbench.theorems._report import csv_text, markdown_text, summary

    measured = list(measure_theorems(args.theorems))
    page = args.out.with_suffix(".md")
    write_text(args.out, csv_text(measured))
    write_text(page, markdown_text(measured))
    for theorem in measured:
        print(f"{theorem.theorem}: {summary(theorem)}")
    print(f"{args.out}\n{page}")
    for name, module in plots_of(args.theorems):
        print(*write_curves(args.out.with_name(f"{args.out.stem}-{name}"), module.curves(), module.AXES), sep="\n")
