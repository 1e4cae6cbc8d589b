"""What tells two federated methods apart: four answers, each FedAvg's unless a method says otherwise.

1. What does a client train?          `Method.network`, `Method.penalty`, `Method.local_epochs`, `Method.pooled`
2. What leaves the client?            `Method.shares` (parameters), `Method.signals` (anything else)
3. How does the server combine?       `Method.mixing`: new shared parameters = W . uploaded ones
4. When is a client evaluated?        `Method.evaluated`: after its local steps, or after the download

Stacks that methods see have leading axes [seeds S, clients K]: the clients of a cell, and the seeds that the engine
computes at once, are one problem. A method holds settings only; whatever changes during a run is passed in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, TypeVar

import torch
from torch import Tensor

from fedbench.configuration.protocol import ModelSettings, TrainingSettings
from fedbench.models.gcn import GCN
from fedbench.models.masked_gcn import MaskedGCN
from fedbench.models.network import Network
from fedbench.models.parameters import Parameters
from fedbench.settings import Settings

S = TypeVar("S", bound=Settings)


@dataclass(frozen=True)
class Cell:
    """What a method may know of the problem before round 1.

    Args:
        features: input width.
        classes: number of classes.
        seeds: run seeds computed at once, S of them.
        nodes: int64[K], nodes (data points) per client.
        train_nodes: int64[K], training nodes per client.
        dtype: of all parameters.
        device: where they live.
    """

    features: int
    classes: int
    seeds: tuple[int, ...]
    nodes: Tensor
    train_nodes: Tensor
    dtype: torch.dtype
    device: torch.device

    @property
    def clients(self) -> int:
        """Number of clients K."""
        return len(self.nodes)


class NoSettings(Settings):
    """A method without settings of its own."""


class Method(Generic[S]):
    """Base of every federated method; its defaults are FedAvg's (McMahan et al. 2017), all clients taking part.

    Class attributes: ``Settings``, the model of the method's own settings; ``source``, what to cite; ``pooled``,
    whether one model is trained on all clients' data; ``anchored``, whether `penalty` needs the parameters as
    received; ``evaluated``, when clients are evaluated.

    Args:
        settings: the method's own settings.
        training: the cell's schedule, optimiser and backbone.
    """

    Settings: ClassVar[type[Settings]] = NoSettings
    source: ClassVar[str] = ""
    pooled: ClassVar[bool] = False
    anchored: ClassVar[bool] = False
    evaluated: Literal["after_local_steps", "after_download"] = "after_local_steps"

    def __init__(self, settings: S, training: TrainingSettings) -> None:
        self.settings = settings
        self.training = training

    # 1. What does a client train?

    def network(self, cell: Cell) -> Network:
        """Return the network of a client."""
        return plain_gcn(cell, self.training.model)

    def penalty(self, local: Parameters, received: Parameters, round: int) -> Tensor | None:
        """Return what is added to each client's loss, [S, K], or None.

        Args:
            local: the parameters being trained, name to [S, K, ...].
            received: the shared ones as they were at the start of the round; empty unless ``anchored``.
            round: communication round, from 1.
        """
        return None

    def local_epochs(self, round: int, cell: Cell) -> Tensor:
        """Return how many local epochs each client takes in a round, int64 [S, K]."""
        return torch.full((len(cell.seeds), cell.clients), self.training.local_epochs)

    # 2. What leaves the client?

    def shares(self, parameter: str) -> bool:
        """Tell whether a parameter is uploaded, combined and downloaded; others stay on the client."""
        return True

    def public(self, cell: Cell) -> Any:
        """Return what the server publishes before round 1 (a probe graph, say); passed to `signals`."""
        return None

    def signals(self, network: Network, parameters: Parameters, public: Any) -> dict[str, Tensor]:
        """Return what clients upload beside parameters, name to [S, K, ...].

        Args:
            network: the clients' network.
            parameters: as they are at evaluation (`Network.effective`), name to [S, K, ...].
            public: what `public` returned.
        """
        return {}

    # 3. How does the server combine?

    def mixing(self, uploads: Parameters, cell: Cell) -> Tensor:
        """Return W [S, K, K]: client k's new shared parameters are sum_l W[k, l] times client l's.

        Args:
            uploads: shared parameters and signals, name to [S, K, ...].
            cell: sizes, seeds, device.
        """
        return uniform_rows(cell)


def plain_gcn(cell: Cell, model: ModelSettings) -> GCN:
    """Return the protocol's backbone."""
    return GCN(cell.features, cell.classes, model.layers, model.width, model.dropout, model.readout)


def masked_gcn(cell: Cell, model: ModelSettings, mask_threshold: float) -> MaskedGCN:
    """Return the protocol's backbone with local masks."""
    return MaskedGCN(
        cell.features, cell.classes, model.layers, model.width, model.dropout, model.readout, mask_threshold
    )


def uniform_rows(cell: Cell) -> Tensor:
    """Return W with all entries 1 / K."""
    return rows_of(torch.ones(cell.clients), cell)


def rows_of(weights: Tensor, cell: Cell) -> Tensor:
    """Return W whose rows are all ``weights`` [K], scaled to sum 1."""
    row = (weights.double() / weights.double().sum()).to(dtype=cell.dtype, device=cell.device)
    return row.expand(len(cell.seeds), cell.clients, cell.clients)


def cosine(vectors: Tensor) -> Tensor:
    """Return pairwise cosines [S, K, K] of client vectors [S, K, d]."""
    unit = torch.nn.functional.normalize(vectors, dim=-1)
    return unit @ unit.transpose(1, 2)


def similarity_mixing(similarity: Tensor, temperature: float) -> Tensor:
    """Return W[k, l] = exp(temperature * sim(k, l)) / sum_r exp(temperature * sim(k, r))."""
    return torch.softmax(temperature * similarity, dim=-1)


def stack_shape(values: Mapping[str, Tensor]) -> tuple[int, int]:
    """Return (S, K) of a mapping of stacks."""
    first = next(iter(values.values()))
    return first.shape[0], first.shape[1]


def squared_distance(local: Parameters, received: Parameters) -> Tensor:
    """Return the squared Euclidean distance over all received parameters, [S, K]."""
    seeds, clients = stack_shape(received)
    distances = [(local[name] - anchor).view(seeds, clients, -1).square().sum(-1) for name, anchor in received.items()]
    return torch.stack(distances).sum(0)
