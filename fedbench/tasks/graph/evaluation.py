"""Accuracy on every client's validation and test graphs, without dropout: each node colour is computed once a layer.

Where a method puts something beside nodes' features, colours don't tell all, and every node is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from fedbench.models.network import Network
from fedbench.models.parameters import Parameters
from fedbench.tasks.graph.arrays import ClientGraphs, choose
from fedbench.tasks.graph.block import EVALUATED_SPLITS, Batch, GraphBlock
from fedbench.tasks.graph.colours import Rows, distinct, indicator, summed_rows
from fedbench.tasks.task import Figures


@dataclass(frozen=True)
class OnGraphs:
    """Evaluates networks of ``layers`` convolutions; what it makes of a block is kept.

    With the block itself, since the number that names it is free for another block once it is gone.
    """

    layers: int
    _made: dict[int, tuple[GraphBlock, Batch, dict[str, Tensor]]] = field(default_factory=dict)

    def figures(self, network: Network, effective: Parameters, block: GraphBlock, last: bool) -> Figures:
        """Return each packed client's accuracy on both splits; NaN where it has no graph."""
        if id(block) not in self._made:
            self._made[id(block)] = (block, *self._prepared(block))
        _, batch, membership = self._made[id(block)]
        logits = network.forward(effective, batch, None)  # type: ignore[arg-type]
        right = batch.among_own(logits).argmax(2).flatten() == batch.labels
        by_client = right.view(batch.clients, -1)
        return {
            ("accuracy", split): (by_client & mask).sum(1).double() / mask.sum(1).double()
            for split, mask in membership.items()
        }

    def _prepared(self, block: GraphBlock) -> tuple[Batch, dict[str, Tensor]]:
        graphs = [np.concatenate([client.of_split(split) for split in EVALUATED_SPLITS]) for client in block.clients]
        batch = block.batch(graphs) if block.has_extra else compressed(block, graphs, self.layers)
        masks = {}
        for split in EVALUATED_SPLITS:
            mask = torch.zeros(batch.clients, batch.graph_slots, dtype=torch.bool)
            for row, client, mine in zip(mask, block.clients, graphs, strict=True):
                row[: len(mine)] = torch.from_numpy(np.isin(mine, client.of_split(split)))
            masks[split] = mask.to(block.place.device)
        return batch, masks


@dataclass(frozen=True)
class Levels:
    """A client's graphs by colours.

    ``first``, ``degrees`` of layer 1, ``between`` for each later layer, ``pool``. ``colour``: each node's, after them.
    """

    labels: np.ndarray
    first: Rows
    degrees: np.ndarray
    between: list[Rows]
    pool: Rows
    colour: np.ndarray


def levels(client: ClientGraphs, graphs: np.ndarray, layers: int) -> Levels:
    """Return what a network without dropout computes once for each colour of each layer."""
    chosen = choose(client, graphs)
    gathered = client.gathered.take(chosen.rows)
    representative, colour = distinct(gathered)
    first, degrees = gathered.take(representative), client.degrees[chosen.rows][representative]
    between = []
    for _ in range(2, layers + 1):
        rows = summed_rows(chosen.start, chosen.neighbours, indicator(colour, len(representative)))
        representative, colour = distinct(rows)
        between.append(rows.take(representative))
    pool = summed_rows(chosen.nodes, np.arange(len(colour)), indicator(colour, len(representative)))
    return Levels(chosen.labels, first, degrees, between, pool, colour)


def compressed(block: GraphBlock, graphs: Sequence[np.ndarray], layers: int) -> Batch:
    """Return a batch in which a row is a colour, not a node; for networks without dropout."""
    return joined(block, [levels(client, mine, layers) for client, mine in zip(block.clients, graphs, strict=True)])


def joined(block: GraphBlock, parts: Sequence[Levels]) -> Batch:
    """Return the clients' graphs by colours as one batch."""
    rows = [max(len(part.first) for part in parts)]
    between = []
    for layer in range(len(parts[0].between)):
        own = [_as_wide(part.between[layer], rows[-1]) for part in parts]
        rows.append(max(len(part) for part in own))
        between.append(block.matrix(own, rows[-1]))
    graph_slots = max(len(part.labels) for part in parts)
    return Batch(
        sizes=tuple(len(part.first) for part in parts),
        slots=rows[0],
        graph_sizes=tuple(len(part.labels) for part in parts),
        graph_slots=graph_slots,
        first=block.matrix([part.first for part in parts], rows[0]),
        degrees=block.padded([part.degrees for part in parts], rows[0]),
        spread=None,
        between=tuple(between),
        pool=block.matrix([_as_wide(part.pool, rows[-1]) for part in parts], graph_slots),
        labels=block.labels([part.labels for part in parts], graph_slots),
        train_counts=block.train_counts,
        absent=block.absent,
    )


def _as_wide(rows: Rows, width: int) -> Rows:
    return Rows(rows.start, rows.columns, rows.values, width)
