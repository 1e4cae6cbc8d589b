"""Build one table of a suite from records: tidy CSV, and LaTeX and Markdown laid out like the paper."""

from __future__ import annotations

import argparse
from pathlib import Path

from fedbench.cli._options import add_also, add_bundle, add_configs, add_records

HELP = "build a table from records"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("table", help="name of a table of the suite (file in configs/tables)")
    parser.add_argument("--suite", required=True, help="name of a file in configs/suites")
    add_configs(parser)
    add_records(parser)
    add_bundle(parser)
    parser.add_argument(
        "--results", type=Path, help="folder with datasets/ and partitions/, for digests and tables of partitions"
    )
    parser.add_argument("--out", type=Path, help="folder of the tables (default: reports/<suite>/tables)")
    add_also(parser)
    parser.add_argument("--partial", action="store_true", help="print cells without records as `not run`")


def run(args: argparse.Namespace) -> None:
    """Build, and say which files were written."""
    from fedbench.configuration.suite import load_suite
    from fedbench.records.check import Present
    from fedbench.records.confirmed import read_confirmations
    from fedbench.records.pack import open_records, results_of
    from fedbench.records.reuse import with_bundle
    from fedbench.tables.build import write_table

    out = args.out or Path("reports", args.suite, "tables")
    results = args.results or results_of(args.records)
    confirmed = read_confirmations(*filter(None, (args.records, args.bundle)))
    written = write_table(
        args.table,
        load_suite(args.suite, args.configs),
        args.configs,
        with_bundle(open_records(args.records), args.bundle, args.configs),
        Present(args.configs, results, confirmed),
        out,
        also=args.also,
        partial=args.partial,
        results=results,
        remedy=f"`snakemake --cores 2 --config suite={args.suite} -- {out}/{args.table}.csv` makes them; "
        "`--partial` prints their cells as 'not run'",
    )
    print("\n".join(str(path) for path in written))
