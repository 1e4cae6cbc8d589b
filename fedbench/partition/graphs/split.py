"""Which graphs of a client train, validate and test."""

from __future__ import annotations

import numpy as np

from fedbench.errors import DataError
from fedbench.partition.graphs.kinds import GraphSplit
from fedbench.partition.graphs.store import TEST, TRAIN, VAL


def stratified(y: np.ndarray, settings: GraphSplit, seed: int, whose: str) -> np.ndarray:
    """Return int8[n], the split of each of a client's graphs, of classes ``y`` int64[n].

    Args:
        y: class of each graph, in the data set's order, on which the draw depends.
        settings: shares, and the random state of seed 0.
        seed: the partition's, added to the random state.
        whose: the client, for messages.

    Raises:
        DataError: a class has too few graphs for both sides of a draw.
    """
    state = settings.seed + seed
    train, rest = _halved(np.arange(y.size), y, settings.rest, state, whose)
    val, test = _halved(rest, y, settings.test, state, whose)
    split = np.empty(y.size, dtype=np.int8)
    split[train], split[val], split[test] = TRAIN, VAL, TEST
    return split


def _halved(graphs: np.ndarray, y: np.ndarray, share: float, state: int, whose: str) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.model_selection import train_test_split  # here, so that naming a scheme stays light

    try:
        first, second = train_test_split(graphs, test_size=share, stratify=y[graphs], shuffle=True, random_state=state)
    except ValueError as error:
        raise DataError(
            f"a stratified split of {graphs.size} graphs of {whose}",
            found=str(error),
            allowed="at least two graphs of every class, and on each side as many graphs as classes",
            remedy="ask for fewer clients",
        ) from error
    return first, second
