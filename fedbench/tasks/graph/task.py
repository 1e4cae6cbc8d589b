"""The graph task, as the engine sees it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedbench.configuration.protocol import ModelSettings, TrainingSettings
from fedbench.errors import ConfigurationError
from fedbench.models.gin import GIN
from fedbench.models.network import Network
from fedbench.tasks.graph.arrays import ClientGraphs, GraphProblem, load_graphs
from fedbench.tasks.graph.batches import steps
from fedbench.tasks.graph.block import GraphBlock
from fedbench.tasks.graph.evaluation import OnGraphs
from fedbench.tasks.task import Evaluator, Member, Place, Shape, Step


@dataclass(frozen=True)
class GraphTask:
    """Graph classification. On a CPU clients are computed one at a time: a batch fills the processor already."""

    packs_on_cpu: bool = False
    pads_widths: bool = True

    def load(self, dataset_file: Path, partition_file: Path) -> GraphProblem:
        """Read a data set and a partition."""
        return load_graphs(dataset_file, partition_file)

    def network(self, shape: Shape, model: ModelSettings, **choices: Any) -> Network:
        """Return the protocol's graph isomorphism network."""
        choices |= {name: True for name in ("masks", "apv") if getattr(model, name)}
        if choices:
            raise ConfigurationError(
                "make a client's network for graph classification",
                found=f"{' and '.join(choices)}, asked for by the method or the protocol",
                allowed="methods that take the protocol's GIN, or bring a network",
            )
        network: Network = GIN(shape.features, shape.classes, model)  # type: ignore[assignment]
        return network

    def pack(
        self, data: Sequence[Sequence[ClientGraphs]], problem: GraphProblem, model: ModelSettings, place: Place
    ) -> GraphBlock:
        """Keep the clients' graphs side by side, seed-major."""
        return GraphBlock([client for of_seed in data for client in of_seed], place)

    def steps(
        self, block: GraphBlock, training: TrainingSettings, members: Sequence[Member], round: int, epoch: int
    ) -> Iterator[Step]:
        """Yield batches of training graphs."""
        return steps(block, training, members, round, epoch)

    def evaluator(self, problem: GraphProblem, training: TrainingSettings, place: Place) -> Evaluator:
        """Return the evaluation on clients' own graphs."""
        return OnGraphs(len(training.model.hidden_widths))


TASK = GraphTask()
