"""The node task, as the engine sees it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fedbench.configuration.protocol import ModelSettings, TrainingSettings
from fedbench.models.gnn import GNN
from fedbench.models.heads import Head, KernelHead, PlainHead
from fedbench.models.masks import Masks
from fedbench.tasks.node.arrays import ClientGraph, NodeProblem, load_problem
from fedbench.tasks.node.batches import batches
from fedbench.tasks.node.block import NodeBlock, pack
from fedbench.tasks.node.evaluation import OnClients, OnWholeGraph
from fedbench.tasks.task import Evaluator, Member, Place, Shape, Step


@dataclass(frozen=True)
class NodeTask:
    """Node classification."""

    packs_on_cpu: bool = True
    pads_widths: bool = False

    def load(self, dataset_file: Path, partition_file: Path) -> NodeProblem:
        """Read a data set and a partition."""
        return load_problem(dataset_file, partition_file)

    def network(self, shape: Shape, model: ModelSettings, head: Head | None = None, masks: Masks | None = None) -> GNN:
        """Return the protocol's graph network; its ``masks`` and ``apv``, where set, go before the method's choice."""
        if model.masks is not None:
            masks = (masks or Masks()) if model.masks else None
        return GNN(shape.features, shape.classes, model, head or (KernelHead() if model.apv else PlainHead()), masks)

    def pack(
        self, data: Sequence[Sequence[ClientGraph]], problem: NodeProblem, model: ModelSettings, place: Place
    ) -> NodeBlock:
        """Lay out clients' graphs block-diagonally."""
        return pack(data, problem, model.backbone, dtype=place.dtype, device=place.device)

    def steps(
        self, block: NodeBlock, training: TrainingSettings, members: Sequence[Member], round: int, epoch: int
    ) -> Iterator[Step]:
        """Yield all training nodes at once, or batches of them; who has none in a batch doesn't take its step."""
        for batch in batches(block, training, members, round, epoch):
            yield Step(batch, None if batch is block else batch.train_counts.sum(1) > 0)

    def evaluator(self, problem: NodeProblem, training: TrainingSettings, place: Place) -> Evaluator:
        """Return the evaluation on clients' own nodes, or on the whole graph."""
        if training.evaluated_on == "client":
            return OnClients()
        return OnWholeGraph(self.pack([[problem.whole_graph()]], problem, training.model, place))


TASK = NodeTask()
