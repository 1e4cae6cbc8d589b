"""One split of all nodes, drawn before the graph is cut."""

from __future__ import annotations

import numpy as np

from fedbench.partition.scheme import SplitSettings
from fedbench.partition.store import TEST, TRAIN, VAL


def global_split(nodes: int, settings: SplitSettings, draw: np.random.Generator) -> np.ndarray:
    """Return int8[nodes], each node's split.

    Of one random permutation the first part trains, the next tests, the rest validates. Part sizes are rounded to
    whole numbers (halves to even, as Python's ``round`` in FED-PUB's code).
    """
    train, test = round(settings.train * nodes), round(settings.test * nodes)
    order = draw.permutation(nodes)
    split = np.full(nodes, VAL, dtype=np.int8)
    split[order[:train]] = TRAIN
    split[order[train : train + test]] = TEST
    return split
