"""FedIGL: invariant subgraphs are learnt together, the rest by every client (Wang et al., NeurIPS 2025).

A generator cuts each graph into G_I and G_V (`fedbench.models.subgraphs`, equation 4). Global model: h_inv = f_I(G_I),
h_var = f_V(G_V), CE(end(h_inv + h_var), y). Private model: h_spec = f_C(G_V), CE(own_end(stopgrad(h_inv) + h_spec), y),
trained after the global step with the global part frozen; predictions are own_end(h_inv + h_spec).
Bi-gradient regularisation (equation 12), g_k and h_k the gradients of the global CE by f_I and f_V, bars their averages
of the last round:
    CE + lambda ||g_k - gbar||^2 + beta max(0, eps - ||h_k - hbar||)^2
Generator, f_I and f_V are averaged, weighed by training graphs. Neither code nor supplement was at hand:
docs/methods/fedigl.md lists what is inferred.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import torch
from pydantic import Field
from torch import Tensor

from fedbench.methods._fedigl_gradients import GradientState, hinge, squared_apart
from fedbench.methods._own_blocks import OwnBlocks
from fedbench.methods.base import Method, bytes_of
from fedbench.methods.exchange import Cell, Exchange, LocalStep, Traffic, Trained
from fedbench.methods.weights import rows_by
from fedbench.models.fedigl import INVARIANT, SHARED, VARIANT, FedIGLNetwork
from fedbench.models.parameters import Parameters
from fedbench.settings import Settings
from fedbench.tasks.graph.block import GraphBlock
from fedbench.tasks.graph.coloured_edges import ColouredEdgeBlock

_GRADIENT = "gradient "


class FedIGLSettings(Settings):
    """Settings of FedIGL; constants are those of the paper's main text."""

    consistency: float = Field(0.05, ge=0, description="lambda (main text, SM; appendix: 0.1 to 0.2)")
    variety: float = Field(0.2, ge=0, description="beta (main text, SM; appendix: 0.2 to 0.3)")
    margin: float = Field(0.1, ge=0, description="eps (main text, SM; appendix: 0.1 to 0.2)")
    share: float = Field(
        0.25, ge=0, le=1, description="tau, share of the edges in G_I (main text, SM; appendix: 0.2 to 0.3)"
    )
    mask: Literal["soft_topk", "straight_through"] = Field(
        "soft_topk", description="how the choice of edges passes gradients (inferred): weights p and 1 - p, or 1 and 1"
    )
    generator_layers: int | None = Field(
        None, ge=1, description="GIN layers of the generator; null: as many as the protocol's network has (inferred)"
    )
    nodes: Literal["all", "incident"] = Field(
        "all", description="nodes of G_I and G_V: all of the graph's, or those with an edge in it (inferred)"
    )
    stages: Literal["joint", "epochs"] = Field(
        "joint",
        description="both steps at once, on one batch, so that the private one has the global part as it was before "
        "the step (adapted); or a round's local epochs of global steps, then as many of private ones with the new "
        "global part (inferred; Adam's count of steps, for its bias correction, then covers both)",
    )
    gradients: Literal["mean", "last"] = Field(
        "mean",
        description="g_k and h_k that are averaged: the mean over a round's steps, or its last step's (inferred)",
    )
    weights: Literal["train_nodes", "uniform"] = Field(
        "train_nodes", description="client weights in the averages of parameters and gradients (paper: as FedAvg)"
    )


class FedIGL(Method[FedIGLSettings]):
    """FedIGL for graph classification."""

    Settings = FedIGLSettings
    source = "Wang et al., FedIGL: federated invariant graph learning for non-IID graphs, NeurIPS 2025"

    def network(self, cell: Cell, client: int = 0) -> FedIGLNetwork:
        """Return generator, encoders and ends for a client's widths."""
        own, model, shape = self.settings, self.training.model, cell.shapes[client]
        incident = own.nodes == "incident"
        return FedIGLNetwork(shape.features, shape.classes, model, self._depth, own.share, own.mask, incident)

    @property
    def _depth(self) -> int:
        return self.settings.generator_layers or len(self.training.model.hidden_widths)

    def memory(self, cell: Cell, data: Sequence[Sequence[Any]], shared: Parameters) -> GradientState:
        """Start without averages."""
        names = [name for name in shared if name.startswith((INVARIANT, VARIANT))]
        counted = torch.zeros(len(cell.seeds), cell.clients, dtype=cell.dtype, device=cell.device)
        blocks = OwnBlocks(partial(ColouredEdgeBlock, layers=self._depth))
        return GradientState({name: torch.zeros_like(shared[name]) for name in names}, counted, blocks=blocks)

    def seen(self, block: GraphBlock, clients: range, memory: GradientState) -> ColouredEdgeBlock:
        """Return the clients' graphs by edges and colours."""
        return memory.blocks.of(block, clients)

    def local_epochs(self, round: int, cell: Cell, memory: GradientState) -> Tensor:
        """Return the protocol's epochs, twice where each stage has its own, int64 [S, K]."""
        return super().local_epochs(round, cell, memory) * (2 if self.settings.stages == "epochs" else 1)

    def objective(self, training: LocalStep) -> Tensor:
        """Return a step's loss, [S * k]: the global one, the private one, or both."""
        if self.settings.stages == "joint":
            return self._global(training, private=True)
        if training.epoch < self.training.local_epochs:
            return self._global(training, private=False)
        return self._private(training)

    def _private(self, training: LocalStep) -> Tensor:
        """Return CE(own_end(h_inv + h_spec), y) with the global part frozen."""
        network, parameters, block, dropout = _parts(training)
        with torch.no_grad():
            invariant = network.invariant(parameters, block, dropout)
        loss: Tensor = block.loss(network.own_logits(parameters, block, invariant, dropout))
        return loss

    def _global(self, training: LocalStep, *, private: bool) -> Tensor:
        """Return CE(end(h_inv + h_var), y) + lambda ||g_k - gbar||^2 + beta max(0, eps - ||h_k - hbar||)^2."""
        network, parameters, block, dropout = _parts(training)
        invariant = network.invariant(parameters, block, dropout)
        loss = block.loss(network.global_logits(parameters, block, invariant, dropout))
        total = loss + self._regularisation(training, loss)
        if private:
            total = total + block.loss(network.own_logits(parameters, block, invariant, dropout))
        return total

    def _regularisation(self, training: LocalStep, loss: Tensor) -> Tensor:
        """Return the two terms on the gradients of ``loss`` [S * k], and count the gradients for the round's means."""
        state, own = training.memory, self.settings
        acts = bool(state.averages) and (own.consistency > 0 or own.variety > 0)
        names = list(state.sums)
        found = torch.autograd.grad(
            loss.sum(), [training.parameters[name] for name in names], create_graph=acts, retain_graph=True
        )
        gradients, seeds = dict(zip(names, found, strict=True)), state.counted.shape[0]
        taking = torch.tensor(training.block.graph_sizes, device=loss.device).view(seeds, -1) > 0
        state.add(gradients, taking, training.clients, last_only=own.gradients == "last")
        if not acts:
            return torch.zeros_like(loss)
        apart = {part: squared_apart(_named(gradients, part), state.averages, seeds) for part in (INVARIANT, VARIANT)}
        return own.consistency * apart[INVARIANT] + own.variety * hinge(apart[VARIANT], own.margin)

    def shares(self, parameter: str) -> bool:
        """Share generator, f_I and f_V."""
        return parameter.startswith(SHARED)

    def signals(self, trained: Trained) -> dict[str, Tensor]:
        """Upload g_k and h_k, name to [S, k, ...]."""
        return {_GRADIENT + name: mean for name, mean in trained.memory.means(trained.clients).items()}

    def mixing(self, uploads: Parameters, exchange: Exchange) -> Tensor:
        """Return W of the average, and average the gradients alike."""
        cell, state = exchange.cell, exchange.memory
        rows = rows_by(self.settings.weights, cell)
        sent = {name: uploads[_GRADIENT + name] for name in state.sums}
        state.renew({name: _averaged(rows[:, 0], stack) for name, stack in sent.items()})
        return rows

    def traffic(self, shared: Parameters, signals: Parameters, exchange: Exchange) -> Traffic:
        """Return the bytes of a round: parameters and gradients up, their averages down."""
        each_way = exchange.cell.clients * (bytes_of(shared) + bytes_of(signals))
        return Traffic(up=each_way, down=each_way)

    def diagnostics(self, uploads: Parameters, exchange: Exchange) -> dict[str, Tensor]:
        """Return ||g_k - gbar|| and ||h_k - hbar|| of the round's own averages, and the epochs of two stages."""
        state = exchange.memory
        sent = {name: uploads[_GRADIENT + name].flatten(0, 1) for name in state.sums}
        shape = state.counted.shape
        found = {"off_invariant": INVARIANT, "off_variant": VARIANT}
        apart = {
            figure: squared_apart(_named(sent, part), state.averages, shape[0]).sqrt().view(shape)
            for figure, part in found.items()
        }
        if self.settings.stages == "joint":
            return apart
        return apart | {"local_epochs": self.local_epochs(exchange.round, exchange.cell, state).double()}


def _parts(training: LocalStep) -> tuple[FedIGLNetwork, Parameters, Any, Any]:
    assert isinstance(training.network, FedIGLNetwork)
    return training.network, training.parameters, training.block, training.dropout


def _named(stacks: Parameters, prefix: str) -> dict[str, Tensor]:
    return {name: stack for name, stack in stacks.items() if name.startswith(prefix)}


def _averaged(weights: Tensor, stack: Tensor) -> Tensor:
    """Return sum_k weights_k stack_k, [S, 1, ...]."""
    return torch.einsum("sk,sk...->s...", weights, stack).unsqueeze(1)
