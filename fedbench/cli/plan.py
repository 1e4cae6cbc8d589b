"""Print, before a run, how many jobs each table of a suite needs and how long they will take by past records."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from fedbench.cli._options import add_also, add_bundle, add_configs, add_records
from fedbench.configuration.suite import load_suite
from fedbench.planning.past import past_runs
from fedbench.planning.plan import plan_of
from fedbench.planning.text import plan_text
from fedbench.records.reuse import reusable

HELP = "print a suite's jobs and the time they will take"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--suite", default="quick", help="suite to plan (default: %(default)s)")
    add_also(parser)
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, help="jobs at a time (default: %(default)s)")
    add_configs(parser)
    add_records(parser)
    add_bundle(parser)
    parser.add_argument(
        "--past",
        type=Path,
        action="append",
        help="folder of records to judge the time by (default: --records and reports/paper/records)",
    )


def run(args: argparse.Namespace) -> None:
    """Print the plan."""
    past = past_runs(args.past or [args.records, Path("reports/paper/records")])
    suite, packed = load_suite(args.suite, args.configs), reusable(args.bundle, args.configs)
    plan = plan_of(suite, args.configs, args.records, past, args.also, packed)
    print(plan_text(plan, args.cores))
