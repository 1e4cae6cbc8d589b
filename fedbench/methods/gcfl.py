"""GCFL: clients are clustered by the direction of their updates (Xie et al., NeurIPS 2021, section 4.2).

Similarity of two members of a cluster that splits: cos(Delta_i, Delta_j) + 1; see `fedbench/methods/_clustered.py`.
"""

from __future__ import annotations

import numpy as np

from fedbench.methods._clustered import Clustered
from fedbench.methods._clusters import ClusterSettings, SeedClusters


class GCFL(Clustered[ClusterSettings]):
    """Clustered federated learning on the shared parameters, whatever the method's network is."""

    Settings = ClusterSettings

    def similarity(self, state: SeedClusters, cluster: list[int], products: np.ndarray) -> np.ndarray:
        """Return cos(Delta_i, Delta_j) + 1, [c, c]; the cosine with a zero update is 0 (released code)."""
        norms = np.sqrt(products.diagonal())
        cosines = products / np.maximum(np.outer(norms, norms), 1e-12)
        return np.maximum(cosines + 1.0, 0.0)
