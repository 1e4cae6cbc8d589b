"""What FedSSP's server and clients remember: preferences, running means of features, the consensus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import torch
from torch import Tensor

from fedbench import seeds as streams
from fedbench.methods._own_blocks import OwnBlocks
from fedbench.methods.exchange import REMADE, Cell
from fedbench.models.parameters import Parameter, Parameters, fill
from fedbench.models.spectral import encoded
from fedbench.tasks.graph.spectra import SpectralBlock


@dataclass
class FedSSPState:
    """State of all clients.

    Attributes:
        seeds: run seeds.
        preference: p_k, [S, K, width].
        gathered: gradients of p_k since the start, for the released code's optimiser, [S, K, width].
        mean: m_k, running means of features, [S, K, width].
        consensus: m of the last round, [S, 1, width]; None before there is one.
        blocks: every pack's data with its spectra.
        started: first clients of the packs that have begun.
        declared: what each client's own network declares.
    """

    seeds: tuple[int, ...] = field(metadata=REMADE)
    preference: Tensor
    gathered: Tensor
    mean: Tensor
    consensus: Tensor | None = None
    blocks: OwnBlocks[SpectralBlock] = field(default_factory=lambda: OwnBlocks(SpectralBlock), metadata=REMADE)
    started: list[int] = field(default_factory=list)
    declared: Sequence[Mapping[str, Parameter]] = field(default=(), metadata=REMADE)

    @classmethod
    def of(cls, cell: Cell, width: int, declared: Sequence[Mapping[str, Parameter]]) -> FedSSPState:
        """Return the state before round 1: all zero."""
        shape = (len(cell.seeds), cell.clients, width)
        nothing = torch.zeros(shape, dtype=cell.dtype, device=cell.device)
        block = partial(SpectralBlock, encoded=partial(encoded, width=width))
        return cls(cell.seeds, nothing, nothing.clone(), nothing.clone(), blocks=OwnBlocks(block), declared=declared)

    @torch.no_grad()
    def moved_mean(self, batch: Tensor, taking: Tensor, clients: range, momentum: float, *, anew: bool) -> Tensor:
        """Return (1 - momentum) m_k of before, and keep what m_k is with the batch's mean.

        Args:
            batch: mean feature of a batch, [S * k, width].
            taking: who has a batch, bool [S * k, 1].
            clients: whose they are.
            momentum: share of the batch.
            anew: whether m_k is 0 before this batch.
        """
        mean = of_clients(self.mean, clients)
        before = torch.zeros_like(batch) if anew else (1 - momentum) * mean.flatten(0, 1)
        mean.copy_(torch.where(taking, before + momentum * batch, mean.flatten(0, 1)).view_as(mean))
        return before

    def step(self, gradient: Tensor, active: Tensor, clients: range, rate: float, *, gathering: bool) -> None:
        """Descend along p's ``gradient`` [S, k, width], or along all so far, where a client is active [S, k]."""
        along, taking = of_clients(self.gathered, clients), active.unsqueeze(2).to(gradient.dtype)
        along.copy_(taking * (along + gradient if gathering else gradient) + (1 - taking) * along)
        of_clients(self.preference, clients).sub_(rate * taking * along)

    def draw_own(self, local: Parameters, clients: range) -> None:
        """Give every client initial parameters of its own, name to [S, k, ...], once."""
        if clients.start in self.started:
            return
        self.started.append(clients.start)
        for row, seed in enumerate(self.seeds):
            for place, client in enumerate(clients):
                for name, value in own_start(self.declared[client], seed, client).items():
                    fill(local[name][row, place], value)


def own_start(declared: Mapping[str, Parameter], seed: int, client: int) -> dict[str, Tensor]:
    """Return a client's own initial parameters, float64."""
    return {
        name: torch.from_numpy(p.initial(streams.generator("own weights", seed, client, name), p.shape))
        for name, p in declared.items()
    }


def of_clients(stack: Tensor, clients: range) -> Tensor:
    """Return the clients' part of a stack [S, K, ...], a view."""
    return stack[:, clients.start : clients.stop]
