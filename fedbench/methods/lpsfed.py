"""LPSFed: low-pass personalised subgraph federated recommendation (ICLR 2026, arXiv 2603.20338).

A client trains low-pass layers, a pooling and a prediction network (`fedbench.models.lpsfed`) on a contrastive loss
whose margins grow with how far a user's and an item's popularity lie apart. What leaves it: both small networks, its
mean margin, and how far its spectrum is from a random anchor graph's. The nearer, the more it takes from the average.
Equation numbers are those in the released code's comments; docs/methods/lpsfed.md maps each line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fedbench.configuration.protocol import TrainingSettings
from fedbench.errors import ConfigurationError
from fedbench.kernels.angles import angle_of_cosine
from fedbench.methods._lpsfed_anchor import anchor_frequencies, anchor_sizes
from fedbench.methods._lpsfed_loss import Loss
from fedbench.methods._lpsfed_margins import mean_margin
from fedbench.methods._lpsfed_memory import Memory, Positives, part_of
from fedbench.methods._lpsfed_popularity import codes_of, most_codes
from fedbench.methods._lpsfed_settings import LPSFedSettings
from fedbench.methods._lpsfed_similarity import divergences, mixing_of, similarities
from fedbench.methods.base import Method, bytes_of
from fedbench.methods.exchange import Cell, Exchange, LocalStep, Preparation, Traffic, Trained
from fedbench.methods.weights import uniform_rows
from fedbench.models.lpsfed import Form, LPSFedNetwork
from fedbench.models.lpsfed_heads import POOL, PREDICT
from fedbench.models.network import Network
from fedbench.models.parameters import Parameters


class LPSFed(Method[LPSFedSettings]):
    """LPSFed and its ablations, which are settings."""

    Settings = LPSFedSettings
    source = "Low-pass personalized subgraph federated recommendation, ICLR 2026, arXiv 2603.20338"

    def __init__(self, settings: LPSFedSettings, training: TrainingSettings) -> None:
        super().__init__(settings, training)
        if training.task != "rec":
            raise ConfigurationError("run LPSFed", found=f"task '{training.task}'", allowed="task 'rec'")

    def prepare(self, problem: Any, cell: Cell) -> Preparation:
        """Count what clients say of themselves once: users, items, pairs, and how many low frequencies they have."""
        numbers = 1 if self.settings.anchor.kind == "fixed" else 4
        told = Traffic(up=4 * cell.clients * numbers) if self.settings.personalised else Traffic()
        return Preparation(super().prepare(problem, cell).data, told)

    def network(self, cell: Cell, client: int = 0) -> Network:
        """Return the client's network."""
        own, shape = self.settings, cell.shapes[client]
        size = shape.features, shape.classes, int(cell.train_nodes.max())  # clients of one shape share the network
        codes = most_codes(own.bias.pop_code, *size) if own.margins else None
        form = Form(own.convolution, own.pool_mlp_layers, own.pred_mlp_layers, own.train_score, codes)
        network: Network = LPSFedNetwork(*size[:2], self.training.model, form)  # type: ignore[assignment]
        return network

    def memory(self, cell: Cell, data: Sequence[Sequence[Any]], shared: Parameters) -> Memory:
        """Give users and items their codes, and the anchor its size; training pairs alone count."""
        sizes = np.array([(client.users, client.items, client.train.shape[1]) for client in data[0]])
        users, items = zip(*(codes_of(client.taken, self.settings.bias.pop_code) for client in data[0]), strict=True)
        last, *seen = torch.zeros(4, len(cell.seeds), cell.clients, dtype=cell.dtype, device=cell.device).unbind(0)
        anchor = list(anchor_sizes(self.settings.anchor, sizes))
        return Memory(list(users), list(items), anchor, last, Positives(*seen))

    def objective(self, training: LocalStep) -> Tensor:
        """Return each client's loss, [S * k]; see `Loss`."""
        return Loss(self.settings, self.training.local_epochs, training).of_clients()

    # What leaves a client

    def shares(self, parameter: str) -> bool:
        """Share the pooling and the prediction network."""
        return parameter.startswith((POOL, PREDICT))

    def signals(self, trained: Trained) -> dict[str, Tensor]:
        """Return M_c [S, k] and K_c [S, k, Phi].

        A client sends rho_c rather than K_c (`traffic`): here the server computes it, where all spectra are at hand.
        """
        found = {"signature": self._signature(trained)} if self.settings.personalised else {}
        return found | ({"margin": self._margins(trained)} if self.settings.margins else {})

    def _signature(self, trained: Trained) -> Tensor:
        """Return the lowest eigenvalues, or these times the last layer's kernel."""
        frequencies = trained.block.low_pass.frequencies
        if self.settings.similarity.signature == "filtered":
            frequencies = frequencies * trained.packed[f"kernel{self.training.model.layers}.weight"]
        return frequencies.view(-1, len(trained.clients), frequencies.shape[1])

    def _margins(self, trained: Trained) -> Tensor:
        """Return each client's mean margin [S, k]."""
        if self.settings.margin.mean == "last_batch":
            return part_of(trained.memory.last, trained.clients).clone()
        seeds, own, memory = len(trained.block.clients) // len(trained.clients), self.settings, trained.memory
        device = trained.block.place.device
        cosines = memory.codes_of(trained.clients, seeds, device).cosines(trained.packed)
        scorers = trained.network.trained_scorers(trained.packed, trained.block)  # type: ignore[attr-defined]
        strengths = own.margin.gamma * angle_of_cosine(cosines)
        means = [
            mean_margin(scorer, strength, memory.users[k].to(device), memory.items[k].to(device), own.train_score)
            for scorer, strength, k in zip(scorers, strengths, [*trained.clients] * seeds, strict=True)
        ]
        return cosines.new_tensor(means).view(seeds, -1)

    def traffic(self, shared: Parameters, signals: Parameters, exchange: Exchange) -> Traffic:
        """Return the bytes of a round: both networks both ways; rho_c and M_c up, K_R and M_c,upd down."""
        own, networks = self.settings, bytes_of(shared)
        phi = signals["signature"].shape[2] if own.personalised else 0
        up, down = networks + 4 * (own.personalised + own.margins), networks + 4 * (phi + own.margins)
        return Traffic(up=exchange.cell.clients * up, down=exchange.cell.clients * down)

    # The server

    def mixing(self, uploads: Parameters, exchange: Exchange) -> Tensor:
        """Return W = diag(1 - rho bar) + rho bar 1' / K, and send margins back alike (equation 14)."""
        memory, cell = exchange.memory, exchange.cell
        similarity = self._similarities(uploads, exchange)
        memory.similarity = similarity
        if self.settings.margins:
            memory.received = self._updated(uploads["margin"], similarity)
        return mixing_of(similarity).to(cell.dtype) if self.settings.personalised else uniform_rows(cell)

    def _similarities(self, uploads: Parameters, exchange: Exchange) -> Tensor:
        """Return rho bar [S, K] against this round's anchor; 1 for everyone where nothing is personal."""
        cell, memory = exchange.cell, exchange.memory
        if not self.settings.personalised:
            return torch.ones(len(cell.seeds), cell.clients, dtype=cell.dtype, device=cell.device)
        count = uploads["signature"].shape[2]
        anchor, own, sizes = self.settings.anchor, self.settings.similarity, tuple(memory.anchor)
        drawn = [anchor_frequencies(anchor, sizes, count, seed, exchange.round) for seed in cell.seeds]
        memory.rho = divergences(own, torch.stack(drawn).to(cell.device), uploads["signature"])
        return similarities(memory.rho, own.scale)

    def _updated(self, margins: Tensor, similarity: Tensor) -> Tensor:
        """Return M_c,upd = rho bar M + (1 - rho bar) M_c with M the clients' mean (equation 14)."""
        mean = margins.mean(1, keepdim=True).expand_as(margins)
        if self.settings.margin.update == "average":
            return mean.clone()
        return (similarity * mean + (1 - similarity) * margins).to(margins.dtype)

    def diagnostics(self, uploads: Parameters, exchange: Exchange) -> dict[str, Tensor]:
        """Return rho, rho bar, mean margins, what came back for them, mean R of pairs taken, their share at pi."""
        memory = exchange.memory
        found = {"rho": memory.rho, "similarity": memory.similarity} if self.settings.personalised else {}
        if self.settings.margins:
            found |= {"margin": uploads["margin"], "margin_updated": memory.received} | memory.positives.figures()
        return found
