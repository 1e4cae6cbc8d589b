"""Tell which records are stale (settings, data or code have changed since) or invalid, and why."""

from __future__ import annotations

import argparse
from pathlib import Path

from fedbench.cli._options import add_configs, add_records

HELP = "tell which records are stale or invalid, and why"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    add_records(parser)
    parser.add_argument("--results", type=Path, help="folder with datasets/ and partitions/ to compare digests with")
    add_configs(parser)
    parser.add_argument("--all", action="store_true", help="list valid records too")


def run(args: argparse.Namespace) -> int:
    """Print findings and counts; status 1 if any record is stale or invalid, or there is none."""
    from collections import Counter

    from fedbench.records.check import Present
    from fedbench.records.confirmed import read_confirmations
    from fedbench.records.pack import open_records, results_of
    from fedbench.verification.inspect import INVALID, STALE, VALID, inspect

    results = args.results or results_of(args.records)
    present = Present(args.configs, results, read_confirmations(args.records))
    findings = list(inspect(open_records(args.records), present))
    for finding in findings:
        if args.all or finding.state != VALID:
            print(finding)
    counts = Counter(finding.state for finding in findings)
    print(", ".join(f"{counts[state]} {state}" for state in (VALID, STALE, INVALID)) + f" in {args.records}")
    return 0 if findings and counts[VALID] == len(findings) else 1
