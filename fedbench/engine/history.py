"""What is measured while a cell trains, and the tidy table it becomes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from torch import Tensor


@dataclass
class History:
    """Measurements in order: (round, split, metric, values [S * groups])."""

    seeds: tuple[int, ...]
    entries: list[tuple[int, str, str, np.ndarray]] = field(default_factory=list)

    def add(self, round: int, split: str, metric: str, values: Tensor) -> None:
        """Note one figure of every (seed, client), seed-major."""
        self.entries.append((round, split, metric, values.detach().cpu().double().flatten().numpy()))

    def columns(self, seed: int) -> dict[str, np.ndarray]:
        """Return one seed's measurements as the record's columns; figures that are not a number mean 'no data'."""
        index = self.seeds.index(seed)
        parts = [values.reshape(len(self.seeds), -1)[index] for *_, values in self.entries]
        lengths = [len(part) for part in parts]
        rounds, splits, metrics = zip(*(entry[:3] for entry in self.entries), strict=True)
        return {
            "seed": np.full(sum(lengths), seed),
            "client": np.concatenate([np.arange(n) for n in lengths]),
            "round": np.repeat(rounds, lengths),
            "split": np.repeat(splits, lengths),
            "metric": np.repeat(metrics, lengths),
            "value": np.concatenate(parts),
        }
