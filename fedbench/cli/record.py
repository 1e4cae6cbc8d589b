"""Turn a tidy CSV, written by a program in any language, into a run record with provenance."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "turn an outside program's CSV into a run record"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("--table", type=Path, required=True, help="CSV: seed, client, round, split, metric, value")
    for name in ("protocol", "dataset", "partition", "method"):
        parser.add_argument(f"--{name}", required=True, help=f"the record's {name}, as in its path")
    parser.add_argument("--variant", default="default", help="likewise")
    parser.add_argument("--label", help="row name in tables (default: the method's name)")
    parser.add_argument("--task", choices=("node", "graph", "rec"), default="node", help="the data set's")
    parser.add_argument("--program", type=Path, action="append", required=True, help="the program's file; repeatable")
    parser.add_argument("--dataset-file", type=Path, required=True, help="data set file that the program read")
    parser.add_argument("--partition-file", type=Path, required=True, help="partition file that the program read")
    parser.add_argument("--settings", type=Path, help="JSON file: what the program was told")
    parser.add_argument("--costs", type=Path, help="JSON file: a list of costs, one a seed (SeedCost)")
    parser.add_argument("--device", default="cpu", help="where it ran; for the header")
    parser.add_argument("--out", type=Path, required=True, help="<records>/<protocol>/.../seeds-<a>-<b>.parquet")


def run(args: argparse.Namespace) -> None:
    """Write the record."""
    from fedbench.configuration.run import RunName
    from fedbench.records.store import write_record
    from fedbench.verification.outside import outside_record, read_json, refuse_misplaced

    record = outside_record(
        args.table,
        RunName(**{name: getattr(args, name) for name in RunName.model_fields}),
        args.program,
        args.dataset_file,
        args.partition_file,
        read_json(args.settings) if args.settings else {},
        task=args.task,
        label=args.label or args.method,
        device=args.device,
        costs=read_json(args.costs) if args.costs else [],
    )
    refuse_misplaced(record, args.out)
    write_record(args.out, record)
    print(args.out)
