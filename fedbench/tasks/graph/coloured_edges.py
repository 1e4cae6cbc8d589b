"""Batches by nodes and edges that know nodes' colours: what depends on a colour alone is computed once for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from fedbench.tasks.graph.block import Batch
from fedbench.tasks.graph.edges import EdgeBatch, EdgeBlock, EdgePart
from fedbench.tasks.graph.evaluation import joined, levels


@dataclass(frozen=True, kw_only=True)
class ColouredBatch(EdgeBatch):
    """A batch with the colours of its nodes after some convolutions.

    Attributes:
        colours: the same graphs, a row a colour; for convolutions on A + I without dropout.
        target_colours, source_colours: int64[E], colours of every edge's ends, flat rows of the last convolution.
    """

    colours: Batch
    target_colours: Tensor
    source_colours: Tensor


@dataclass(frozen=True)
class ColouredEdgeBlock(EdgeBlock):
    """The packed clients' graphs, from which such batches are made; ``layers``: convolutions, at least 1."""

    layers: int = 1

    def batch(self, graphs: Sequence[np.ndarray]) -> ColouredBatch:
        """Return a batch of the chosen graphs of each client."""
        chosen = list(zip(self.clients, graphs, strict=True))
        parts = [EdgePart.of(*each) for each in chosen]
        made = [levels(*each, self.layers) for each in chosen]
        colours = joined(self, made)
        slots = colours.pool.shape[1] // len(parts)
        flat = [own.colour + place * slots for place, own in enumerate(made)]
        targets, sources = (
            self.on(np.concatenate([own[getattr(part, end)] for own, part in zip(flat, parts, strict=True)]))
            for end in ("targets", "sources")
        )
        plain = vars(self.edge_batch(parts))
        return ColouredBatch(**plain, colours=colours, target_colours=targets, source_colours=sources)
