"""Options that several sub-commands have."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_configs(parser: argparse.ArgumentParser) -> None:
    """Add ``--configs``."""
    parser.add_argument("--configs", type=Path, default=Path("configs"), help="configuration folder")


def add_records(parser: argparse.ArgumentParser) -> None:
    """Add ``--records``."""
    default = Path("results/records")
    parser.add_argument(
        "--records", type=Path, default=default, help="folder of records, or a bundle of `fedbench pack`"
    )


def add_bundle(parser: argparse.ArgumentParser) -> None:
    """Add ``--bundle``."""
    parser.add_argument(
        "--bundle",
        type=Path,
        help="bundle of `fedbench pack`, such as reports/paper/records, whose records come first where the present "
        "settings and code would make them again",
    )


def add_also(parser: argparse.ArgumentParser) -> None:
    """Add ``--also``, a tuple of names."""
    parser.add_argument(
        "--also",
        type=names,
        default=(),
        help="methods appended as rows, separated by commas (`name` or `name/variant`)",
    )


def names(text: str) -> tuple[str, ...]:
    """Return the names in a list separated by commas."""
    return tuple(name for name in text.split(",") if name)
