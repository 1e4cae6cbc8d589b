"""FedGNN (FedPerGNN): local graphs expanded by other clients' nodes, and privately trained (Wu et al. 2021, 2022).

Made for recommendation, where a client is a user and neighbours are users of the same items; here clients hold
subgraphs and neighbours are the nodes at the outside ends of cut edges. docs/methods/fedgnn.md lists what is adapted.
Expansion (algorithm 2): a third party matches encrypted node ids (`_expansion`) and passes on, anonymously, the
representations of matched nodes, which are constants in training (`_third_party`).
Private model update (equation 1): g <- clip(g, delta) + Laplace(0, lambda) (`_laplace`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Literal

from pydantic import Field, model_validator
from torch import Tensor

from fedbench.methods._expansion import ExpandedGraph, expanded_graphs
from fedbench.methods._laplace import add_laplace, privacy_budget
from fedbench.methods._third_party import ExpandedGNN, ThirdParty, chosen, third_party, with_received
from fedbench.methods.base import Method
from fedbench.methods.exchange import Cell, Exchange, Preparation, Traffic, Trained
from fedbench.methods.weights import uniform_rows
from fedbench.models.gnn import GNN
from fedbench.models.network import Network
from fedbench.models.parameters import Parameters
from fedbench.settings import Settings
from fedbench.tasks.node.arrays import NodeProblem
from fedbench.tasks.node.block import NodeBlock


class FedGNNSettings(Settings):
    """Settings of FedGNN."""

    expanded_after: int = Field(
        2,
        ge=1,
        description="round after which representations are first exchanged (paper: 2 epochs; a round of all is one)",
    )
    exchanged: Literal["every_round", "once"] = Field(
        "every_round", description="from then on; released code: anew in every epoch; paper, algorithm 1: once"
    )
    clip: float | None = Field(
        None,
        gt=0,
        description="delta, gradients are clipped to +-delta; null: not clipped. Paper: 0.1. The default is inferred: "
        "FedAux, which compares with FedGNN on subgraphs, mentions no noise",
    )
    noise: float = Field(
        0.0,
        ge=0,
        description="lambda, scale of the Laplace noise; 0: none. Paper: 0.2, for a budget 2 delta / lambda = 1",
    )
    id_bytes: int = Field(
        256, ge=0, description="bytes of an encrypted node id (released code: a 2048-bit RSA signature)"
    )

    @model_validator(mode="after")
    def _bounded(self) -> FedGNNSettings:
        if self.noise and self.clip is None:
            raise ValueError("noise needs clip: without a bound on the gradient it gives no privacy budget")
        return self


class FedGNN(Method[FedGNNSettings]):
    """FedGNN for subgraphs: FedAvg on expanded graphs, with or without private gradients."""

    Settings = FedGNNSettings
    source = (
        "Wu et al., FedGNN: federated graph neural network for privacy-preserving recommendation, arXiv 2102.04925; A "
        "federated graph neural network framework for privacy-preserving personalization, Nature Communications 2022"
    )

    def prepare(self, problem: NodeProblem, cell: Cell) -> Preparation:
        """Expand the clients' graphs; each client sent the encrypted ids of its own nodes and of the outside ends."""
        graphs = expanded_graphs(problem)
        outside, sent = (sum(sizes) for sizes in zip(*((g.outside, len(g.sent)) for g in graphs), strict=True))
        known: dict[str, Any] = {"outside_nodes": outside, "sent_nodes": sent}
        if self.settings.clip is not None and self.settings.noise:
            known |= privacy_budget(self.settings.clip, self.settings.noise, self.network(cell), self.training, cell)
        ids = Traffic(up=self.settings.id_bytes * sum(graph.size for graph in graphs))
        return Preparation([graphs] * len(cell.seeds), ids, [known] * len(cell.seeds))

    def network(self, cell: Cell, client: int = 0) -> Network:
        """Return the protocol's network, which takes in what other clients sent."""
        plain = self.protocol_network(cell, client)
        return ExpandedGNN(**{field.name: getattr(plain, field.name) for field in fields(GNN)})

    def memory(self, cell: Cell, data: Sequence[Sequence[ExpandedGraph]], shared: Parameters) -> ThirdParty:
        """Return the third party, who has received nothing yet."""
        return third_party(cell, data[0], self._widths)

    @property
    def _widths(self) -> tuple[int, ...]:
        """Widths of the layers that are exchanged: those whose output a further convolution takes in."""
        return self.training.model.hidden_widths[: self.training.model.layers - 1]

    def seen(self, block: NodeBlock, clients: range, memory: ThirdParty) -> NodeBlock:
        """Return the expanded graphs with what the third party passed on."""
        return with_received(block, clients, memory)

    def corrected(
        self, gradients: dict[str, Tensor], active: Tensor, clients: range, memory: ThirdParty
    ) -> dict[str, Tensor]:
        """Return clip(g, delta) + Laplace(0, lambda), in place."""
        clip, steps = self.settings.clip, [(client, memory.steps[client]) for client in clients]
        for (client, step), takes in zip(steps, active.any(0).tolist(), strict=True):
            memory.steps[client] = step + takes
        if clip is None:
            return gradients
        for name, stack in gradients.items():
            stack.clamp_(-clip, clip)
            if self.settings.noise:
                add_laplace(stack, self.settings.noise, memory.seeds, steps, (memory.round, name))
        return gradients

    def signals(self, trained: Trained) -> dict[str, Tensor]:
        """Upload the representations of the nodes that others asked for, one stack a layer [S, k, b, width]."""
        party: ThirdParty = trained.memory
        if not self._due(party.round):
            return {}
        assert isinstance(trained.network, ExpandedGNN)
        layers = trained.network.representations(trained.packed, self.seen(trained.block, trained.clients, party))
        return {_signal(place): chosen(h, trained.clients, party) for place, h in enumerate(layers)}

    def _due(self, round: int) -> bool:
        """Tell whether representations are exchanged at the end of a round."""
        first = self.settings.expanded_after
        return round >= first if self.settings.exchanged == "every_round" else round == first

    def mixing(self, uploads: Parameters, exchange: Exchange) -> Tensor:
        """Hand the representations to the third party, and return the plain average."""
        party: ThirdParty = exchange.memory
        if self._due(exchange.round):
            party.held = [uploads[_signal(place)] for place in range(len(party.held))]
        party.round, party.steps = exchange.round + 1, [0] * len(party.steps)
        return uniform_rows(exchange.cell)

    def traffic(self, shared: Parameters, signals: Parameters, exchange: Exchange) -> Traffic:
        """Return the bytes of a round: parameters both ways, representations of sent nodes up, of outside ones down."""
        plain, party = super().traffic(shared, {}, exchange), exchange.memory
        node = 4 * sum(self._widths) * self._due(exchange.round)
        return Traffic(plain.up + node * int(party.is_sent.sum()), plain.down + node * sum(map(len, party.source)))


def _signal(place: int) -> str:
    return f"representations_{place + 1}"
