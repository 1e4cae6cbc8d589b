"""A network without parameters that ranks items by their training pairs in the client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from fedbench.models.parameters import Parameter, Parameters
from fedbench.models.ranking import InnerProduct, RecBlock, Scorer


class Untrained:
    """A network with nothing to train; it takes no step, so it has no loss either."""

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare nothing."""
        return {}

    def effective(self, parameters: Parameters) -> Parameters:
        """Return the parameters unchanged."""
        return parameters


@dataclass(frozen=True)
class Popularity(Untrained):
    """The same ranking for every user: descending training pairs; of equal items the first in the data set leads."""

    def scorers(self, parameters: Parameters, block: RecBlock) -> list[Scorer]:
        """Return each client's ranking, as scores: the last place is 0, the one before 1, and so on."""
        return [InnerProduct(*map(block.tensor, _vectors(taken))) for taken in block.taken]


def _vectors(taken: sparse.csr_matrix) -> tuple[np.ndarray, np.ndarray]:
    """Return 1 for every user [users, 1] and the place for every item [items, 1]; places up to 2^24 are exact."""
    users, items = taken.shape
    pairs, place = np.bincount(taken.indices, minlength=items), np.empty(items)
    place[np.argsort(-pairs, kind="stable")] = np.arange(items)[::-1]
    return np.ones((users, 1)), place[:, None]
