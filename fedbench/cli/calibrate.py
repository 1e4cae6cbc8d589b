"""Compare records with figures known to be reproducible; fails on a miss."""

from __future__ import annotations

import argparse
from pathlib import Path

from fedbench.cli._options import add_configs, add_records

HELP = "compare with figures known to be reproducible"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("--suite", default="calibration", help="suite of the runs; its seeds count")
    add_configs(parser)
    add_records(parser)
    parser.add_argument("--out", type=Path, help="table written (default: reports/<suite>.csv)")


def run(args: argparse.Namespace) -> int:
    """Write the comparison, print it, and return 1 on a miss."""
    from fedbench.configuration.calibration import calibrations_of
    from fedbench.configuration.suite import load_suite
    from fedbench.files import write_text
    from fedbench.records.pack import open_records
    from fedbench.verification.calibration import as_table, calibrate

    blocks = load_suite(args.suite, args.configs).seed_blocks
    outcomes = calibrate(calibrations_of(args.suite, args.configs), blocks, open_records(args.records))
    table = as_table(outcomes)
    write_text(args.out or Path("reports", f"{args.suite}.csv"), table.to_csv(index=False, lineterminator="\n"))
    print(table.drop(columns="target_source").to_string(index=False))
    return 0 if all(outcome.ok for outcome in outcomes) else 1
