"""Compare records with figures known to be reproducible; fails on a miss."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "compare with figures known to be reproducible"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("names", nargs="*", metavar="name", help="files of configs/calibrations (default: all)")
    parser.add_argument("--configs", type=Path, default=Path("configs"))
    parser.add_argument("--records", type=Path, default=Path("results/records"))
    parser.add_argument("--out", type=Path, default=Path("reports/calibration.csv"))


def run(args: argparse.Namespace) -> int:
    """Write the comparison, print it, and return 1 on a miss."""
    from fedbench.configuration.calibration import load_calibrations
    from fedbench.files import write_text
    from fedbench.records.pack import open_records
    from fedbench.verification.calibration import as_table, calibrate

    files = load_calibrations(args.configs, args.names)
    outcomes = calibrate(files, args.configs, open_records(args.records))
    table = as_table(outcomes)
    write_text(args.out, table.to_csv(index=False, lineterminator="\n"))
    print(table.drop(columns="target_source").to_string(index=False))
    return 0 if all(outcome.ok for outcome in outcomes) else 1
