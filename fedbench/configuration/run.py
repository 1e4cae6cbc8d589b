"""The complete settings of one run: what `fedbench train` uses, what a record stores, what makes a run stale."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from fedbench.configuration.method import variant_of
from fedbench.configuration.protocol import TrainingSettings, load_protocol, training_for
from fedbench.errors import ConfigurationError
from fedbench.settings import Settings


class RunName(Settings):
    """Names one job: everything but the seeds. Its fields are the folders of a record's path."""

    protocol: str
    dataset: str
    partition: str
    method: str
    variant: str = "default"

    @property
    def folder(self) -> Path:
        """Path of the run's folder below ``results/records``."""
        return Path(self.protocol, self.dataset, self.partition, self.method, self.variant)

    def __str__(self) -> str:
        return "/".join(self.folder.parts)


class RunSettings(Settings):
    """Resolved settings of one run."""

    training: TrainingSettings
    method: dict[str, Any]


def resolve(name: RunName, configs: Path) -> RunSettings:
    """Resolve a run's settings from the files under ``configs``.

    The method's own settings stay a plain mapping here: the method's class validates them when it is built, so
    that this module, which Snakemake imports, needs no torch.
    """
    variant = variant_of(name.method, name.variant, configs)
    protocol = load_protocol(name.protocol, configs)
    where = f"protocol '{name.protocol}', data set '{name.dataset}', method '{name.method}/{name.variant}'"
    training = training_for(protocol, name.dataset, variant.training, where)
    return RunSettings(training=training, method=variant.method)


def seed_block(text: str) -> tuple[int, ...]:
    """Parse a block of seeds: ``"0-2"`` is (0, 1, 2), ``"4-4"`` is (4,).

    Raises:
        ConfigurationError: it is no block, or ends before it starts.
    """
    ends = re.fullmatch(r"(\d+)-(\d+)", text)
    seeds = tuple(range(int(ends[1]), int(ends[2]) + 1)) if ends else ()
    if not seeds:
        raise ConfigurationError(
            "a block of seeds",
            found=f"'{text}'",
            allowed="the first and the last, as in '0-2' for 0, 1 and 2, or '4-4' for 4 alone",
            remedy="correct --seeds",
        )
    return seeds


def block_name(seeds: tuple[int, ...]) -> str:
    """Return the name of a block of consecutive seeds, the inverse of `seed_block`."""
    return f"{seeds[0]}-{seeds[-1]}"
