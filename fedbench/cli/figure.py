"""Draw one figure of a suite from records or partitions, as PDF and PNG."""

from __future__ import annotations

import argparse
from pathlib import Path

from fedbench.cli._options import add_also, add_bundle, add_configs, add_records, names

HELP = "draw a figure"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("figure", help="name of a module in fedbench/figures, such as accuracy-by-round")
    parser.add_argument("--suite", required=True, help="name of a file in configs/suites")
    parser.add_argument("--table", help="table whose methods, data sets and partitions are drawn (default: the first)")
    add_configs(parser)
    add_records(parser)
    add_bundle(parser)
    parser.add_argument("--results", type=Path, help="folder with datasets/ and partitions/")
    parser.add_argument("--out", type=Path, help="folder of the figures (default: reports/<suite>/figures)")
    add_also(parser)
    parser.add_argument("--only", type=names, default=(), help="rows drawn, separated by commas (default: all)")
    parser.add_argument(
        "--partial", action="store_true", help="leave out cells without records, and partitions without files"
    )


def run(args: argparse.Namespace) -> None:
    """Draw, and say which files were written."""
    from fedbench.configuration.suite import load_suite, rows_only
    from fedbench.figures._catalogue import write_figure
    from fedbench.figures._scene import Scene
    from fedbench.records.pack import open_records, results_of
    from fedbench.records.reuse import with_bundle
    from fedbench.stats.cells import table_named

    suite = load_suite(args.suite, args.configs)
    name = args.table or next(iter(suite.tables))
    chosen = [*args.only, *args.also] if args.only else ()
    scene = Scene(
        table=rows_only(table_named(name, suite, args.configs, args.also), chosen),
        blocks=tuple(suite.blocks_of(name)),
        configs=args.configs,
        records=with_bundle(open_records(args.records), args.bundle, args.configs),
        results=args.results or results_of(args.records),
        partial=args.partial,
        remedy="run `snakemake` for this suite; `--partial` leaves their cells out",
    )
    stem = f"{args.figure}-{args.table}" if args.table else args.figure
    written = write_figure(args.figure, scene, args.out or Path("reports", args.suite, "figures"), stem)
    print("\n".join(str(path) for path in written))
