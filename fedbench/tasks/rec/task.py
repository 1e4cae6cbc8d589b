"""The recommendation task, as the engine sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedbench.configuration.protocol import ModelSettings, TrainingSettings
from fedbench.errors import ConfigurationError
from fedbench.models.lcfn import LCFN
from fedbench.models.lgcn import LGCN
from fedbench.models.lightgcn import LightGCN
from fedbench.models.mf import MF
from fedbench.models.network import Network
from fedbench.models.ngcf import NGCF
from fedbench.models.pinsage import PinSage
from fedbench.tasks.rec.arrays import ClientPairs, RecProblem, load_rec
from fedbench.tasks.rec.batches import steps
from fedbench.tasks.rec.block import RecBlock
from fedbench.tasks.rec.breakdown import Breakdown, thirds
from fedbench.tasks.rec.evaluation import OnItems
from fedbench.tasks.rec.query import HELD_OUT
from fedbench.tasks.task import Evaluator, Member, Place, Shape, Step

NETWORKS: dict[str, Callable[[int, int, ModelSettings], Any]] = {
    "mf": MF,
    "lightgcn": LightGCN,
    "ngcf": NGCF,
    "lgcn": LGCN,
    "pinsage": PinSage,
    "lcfn": LCFN,
}


@dataclass(frozen=True)
class RecTask:
    """Recommendation. A `Shape` holds a client's users (features) and items (classes).

    On a CPU clients are computed one at a time: a batch of one fills the processor's cache already.
    """

    packs_on_cpu: bool = False
    pads_widths: bool = False

    def load(self, dataset_file: Path, partition_file: Path) -> RecProblem:
        """Read a data set and a partition."""
        return load_rec(dataset_file, partition_file)

    def network(self, shape: Shape, model: ModelSettings, **choices: Any) -> Network:
        """Return the protocol's network for a client's users and items."""
        if choices:
            raise ConfigurationError(
                "make a client's network for recommendation",
                found=f"a method with {' and '.join(choices)} of its own",
                allowed="methods that take the protocol's network, or bring one",
            )
        network: Network = NETWORKS[model.backbone](shape.features, shape.classes, model)
        return network

    def pack(
        self, data: Sequence[Sequence[ClientPairs]], problem: RecProblem, model: ModelSettings, place: Place
    ) -> RecBlock:
        """Keep the clients' pairs side by side, seed-major."""
        return RecBlock([client for of_seed in data for client in of_seed], place, model.embedding.frequencies)

    def steps(
        self, block: RecBlock, training: TrainingSettings, members: Sequence[Member], round: int, epoch: int
    ) -> Iterator[Step]:
        """Yield batches of training pairs."""
        return steps(block, training, members, round, epoch)

    def evaluator(self, problem: RecProblem, training: TrainingSettings, place: Place) -> Evaluator:
        """Return the full ranking over clients' own items, and what is read off its lists."""
        queries = [query for client in problem.client_data for query in client.queries]
        users = {split: sum(int((query.counts(split) > 0).sum()) for query in queries) for split in HELD_OUT}
        return OnItems(users, problem.clients, Breakdown(thirds(problem.item_degree)))


TASK = RecTask()
