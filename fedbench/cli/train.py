"""Train one block of seeds of one cell and write its run record."""

from __future__ import annotations

import argparse
from pathlib import Path

from fedbench.cli._options import add_configs

HELP = "train a method on a partition"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("method", help="module of fedbench/methods")
    parser.add_argument("--variant", default="default", help="variant in configs/methods/<method>.yaml")
    parser.add_argument("--protocol", required=True, help="file of configs/protocols")
    parser.add_argument("--dataset", required=True, help="file of configs/datasets")
    parser.add_argument("--partition", required=True, help="<scheme>-<clients>[-s<seed>], for example metis-10")
    parser.add_argument("--seeds", required=True, help="block of seeds, '0-2' for 0, 1, 2")
    parser.add_argument("--dataset-file", type=Path, required=True, help="what `fedbench dataset` wrote")
    parser.add_argument("--partition-file", type=Path, required=True, help="what `fedbench partition` wrote")
    parser.add_argument("--out", type=Path, required=True, help="the record's .parquet; its .json is written beside it")
    add_configs(parser)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="where to train")
    parser.add_argument(
        "--state", type=Path, default=None, help="where finished seeds and checkpoints survive a killed job"
    )


def run(args: argparse.Namespace) -> int:
    """Train and write the record."""
    from fedbench.devices.lease import lease_gpu

    if args.device == "cpu":
        return _train(args)
    with lease_gpu():  # before torch is imported, so that it sees the leased device only
        return _train(args)


def _train(args: argparse.Namespace) -> int:
    from fedbench.configuration.run import RunName, seed_block
    from fedbench.engine.job import Job, train_to

    name = RunName(
        protocol=args.protocol,
        dataset=args.dataset,
        partition=args.partition,
        method=args.method,
        variant=args.variant,
    )
    job = Job(
        name=name,
        seeds=seed_block(args.seeds),
        configs=args.configs,
        dataset_file=args.dataset_file,
        partition_file=args.partition_file,
        device=args.device,
        state=args.state,
    )
    train_to(job, args.out)
    return 0
