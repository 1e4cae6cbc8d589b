"""What no way of computing a GIN's round can do without: the dense products and segment sums of its steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from fedbench.configuration.protocol import TrainingSettings
from fedbench.kernels.sparse import SparseMatrix
from fedbench.tasks.graph.arrays import GraphProblem
from fedbench.tasks.graph.batches import steps
from fedbench.tasks.graph.block import Batch, GraphBlock
from fedbench.tasks.task import Place


@dataclass(frozen=True)
class Bare:
    """The batches of a round, made beforehand, and dense operands of the right shapes."""

    batches: list[Batch]
    layers: int
    weight: Tensor

    @classmethod
    def of(cls, problem: GraphProblem, training: TrainingSettings) -> Bare:
        """Prepare one local epoch of every client."""
        width = training.model.hidden_widths[0]
        batches = [batch for client in range(problem.clients) for batch in _epoch(problem, training, client)]
        return cls(batches, len(training.model.hidden_widths), torch.randn(width, width) / width**0.5)

    def round(self) -> None:
        """Compute the products and sums of forward and backward pass; nothing else, not even an activation.

        Layer 1 on its distinct rows: both of its linear maps. From layer 2 on at every node: the sum over neighbours
        and two linear maps, their gradients by weights and inputs, the sum's transpose. Then the sum over each graph.
        """
        with torch.no_grad():
            for batch in self.batches:
                self._step(batch)

    def _step(self, batch: Batch) -> None:
        self._maps(batch.degrees.new_ones(batch.degrees.shape[1], len(self.weight)))
        x = self.weight.new_ones(batch.slots, len(self.weight))
        for layer in range(2, self.layers + 1):
            gathered = _sum(batch.neighbours(layer), x)
            self._maps(gathered)
            _sum(batch.neighbours(layer).transposed, x)
        _sum(batch.pool, x)
        _sum(batch.pool.transposed, x[: batch.graph_slots])

    def _maps(self, x: Tensor) -> None:
        """Two linear maps forward, and each one's two products backward."""
        for _ in range(2):
            y = x @ self.weight
            y @ self.weight.T
            x.T @ y
            x = y


def _sum(matrix: SparseMatrix, x: Tensor) -> Tensor:
    """Return the bare segment sum, by the fastest kernel known here."""
    return torch.embedding_bag(x, matrix.indices, matrix.indptr, False, 0, False, matrix.values, True)[0]


def _epoch(problem: GraphProblem, training: TrainingSettings, client: int) -> Iterator[Batch]:
    block = GraphBlock([problem.client_data[client]], Place())
    for step in steps(block, training, [(0, client)], 1, 0):
        yield step.block
