"""Pack the records of a suite into a compact bundle, from which its tables and figures can be built again."""

from __future__ import annotations

import argparse
from pathlib import Path

from fedbench.cli._options import add_also, add_configs, add_records

HELP = "pack a suite's records into a compact bundle"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("--suite", required=True, help="name of a file in configs/suites")
    add_records(parser)
    add_configs(parser)
    parser.add_argument("--out", type=Path, help="folder of the bundle (default: reports/<suite>/records)")
    add_also(parser)
    parser.add_argument("--partial", action="store_true", help="pack what is there")
    parser.add_argument("--add", action="store_true", help="keep what the bundle has and the folder of records hasn't")


def run(args: argparse.Namespace) -> None:
    """Pack, and say how much it became."""
    from fedbench.configuration.suite import load_suite
    from fedbench.records.pack import Bundle, Layered, open_records
    from fedbench.stats.packing import pack_suite

    out = args.out or Path("reports", args.suite, "records")
    suite = load_suite(args.suite, args.configs)
    records = open_records(args.records)
    chosen = Layered(records, Bundle(out)) if args.add else records
    count = pack_suite(suite, args.configs, chosen, out, args.also, args.partial)
    size = sum(path.stat().st_size for path in out.iterdir())
    print(f"{count} records, {size / 1e6:.2f} MB in {out}")
