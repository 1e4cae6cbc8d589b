"""Retrain packed records, a random sample or one a method and variant, and compare every figure."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fedbench.verification.retrain import Retrained, Trainer

from fedbench.cli._options import add_configs

HELP = "retrain a random sample of records and compare"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument(
        "--bundle", type=Path, default=Path("reports/paper/records"), help="bundle, or a folder of records"
    )
    parser.add_argument("--sample", type=int, default=3, help="number of (run, seed) pairs to retrain")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--tolerance", type=float, default=0.0, help="allowed difference of a figure (1: everything)")
    add_configs(parser)
    parser.add_argument("--results", type=Path, default=Path("results"), help="folder with datasets/ and partitions/")
    parser.add_argument(
        "--files", action="store_true", help="print the partition files that the sample needs, and train nothing"
    )
    parser.add_argument(
        "--confirm",
        action="store_true",
        help="retrain one record of every method and variant whose code has changed; note those that come out exactly",
    )
    parser.add_argument(
        "--before",
        type=Path,
        help="with --confirm: a checkout of the code that the records were made with or confirmed for; what another "
        "processor rounds otherwise than the stored figures is trained with both",
    )
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where to train")


def run(args: argparse.Namespace) -> int:
    """Print one line a retrained run; status 1 on any difference above the tolerance."""
    from fedbench.records.pack import open_records
    from fedbench.verification.retrain import engine_trainer, partition_files, retrain, sample

    if args.files:
        print(*partition_files(sample(open_records(args.bundle), args.sample, args.seed), args.results), sep="\n")
        return 0
    trainer = engine_trainer(args.configs, args.results, args.device)
    if args.confirm:
        return _confirm(args, trainer)
    done = retrain(open_records(args.bundle), trainer, args.sample, args.seed)
    return 1 if sum(not _reported(each, args.tolerance) for each in done) else 0


def _confirm(args: argparse.Namespace, trainer: Trainer) -> int:
    from fedbench.provenance import code_digest
    from fedbench.records.check import Present
    from fedbench.records.confirmed import read_confirmations, write_confirmations
    from fedbench.records.pack import open_records
    from fedbench.verification.confirm import confirmation_of, retrain_representatives
    from fedbench.verification.retrain import checkout_trainer

    before = checkout_trainer(args.before.absolute(), args.results.absolute(), args.device) if args.before else None
    present = Present(args.configs, args.results, read_confirmations(args.bundle))
    wrong = 0
    for done in retrain_representatives(open_records(args.bundle), present, trainer, before):
        if _reported(done, 0.0):
            confirmed = confirmation_of(
                done, code_digest(done.entry.record.header.method, done.entry.record.header.task)
            )
            write_confirmations(args.bundle, [confirmed])
        else:
            wrong += 1
    return 1 if wrong else 0


def _reported(done: Retrained, tolerance: float) -> bool:
    """Print how a retrained run compares; return whether every figure came out again."""
    found = done.comparison
    good = found.within(tolerance)
    print(
        f"{'same' if good else 'DIFFERS':7} {done.entry.name}, seed {done.seed}: {found.rows} figures, "
        f"{found.missing} missing, {found.differing} differ, largest difference {found.largest:g}",
        flush=True,
    )
    return good
