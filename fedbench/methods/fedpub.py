"""FED-PUB: personalised averaging by functional similarity, and local sparse masks (Baek et al., ICML 2023).

Client (section 4.3): theta_k * mu_k with a mask mu_k, trained on
    L(G_k; theta_k, mu_k) + lambda_1 ||mu_k||_1 + lambda_2 ||theta_k - theta_bar_k||_2^2.
Similarity (section 4.2): S(k, l) = cos(h_k, h_l), h_k the mean output of client k's model on one random graph.
Server: theta_bar_k = sum_l alpha_kl theta_l with alpha_kl = exp(tau S(k, l)) / sum_r exp(tau S(k, r)).
Only pages of the paper were at hand: sections are named, not equation numbers; docs/methods/fedpub.md maps each line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from fedbench import seeds as streams
from fedbench.configuration.protocol import TrainingSettings
from fedbench.errors import ConfigurationError
from fedbench.methods.base import Method
from fedbench.methods.exchange import Cell, Exchange, Trained
from fedbench.methods.weights import cosine, similarity_mixing, squared_distance, stack_shape
from fedbench.models.gnn import GNN
from fedbench.models.masks import Masks, is_mask
from fedbench.models.network import Network
from fedbench.models.parameters import Parameters
from fedbench.settings import Settings


class FedPUBSettings(Settings):
    """Settings of FED-PUB; defaults are the released script's for disjoint clients."""

    tau: float = Field(
        3.0, gt=0, description="similarity scale; released script for disjoint K = 10 (parser default 10)"
    )
    l1: float = Field(1e-3, ge=0, description="lambda_1, weight of the masks' L1 norm (released default)")
    proximal: float = Field(
        1e-3, ge=0, description="lambda_2, weight of the distance to the received weights (released)"
    )
    penalties_act: bool = Field(
        True, description="false: the released code, whose penalties are computed on detached tensors: no gradient"
    )
    mask_threshold: float = Field(1e-3, ge=0, description="masks below it count as zero at evaluation (released: l1)")
    proxy_blocks: int = Field(5, ge=1, description="blocks of the random graph (released)")
    proxy_block_nodes: int = Field(100, ge=1, description="nodes a block (released)")
    proxy_edge_probability: float = Field(0.1, ge=0, le=1, description="inside a block; 0 between blocks (released)")


@dataclass(frozen=True)
class Proxy:
    """The random graphs, one a seed: ``features`` S X [seeds, nodes, width], ``adjacency`` S [seeds, nodes, nodes]."""

    features: Tensor
    adjacency: Tensor


class FedPUB(Method[FedPUBSettings]):
    """FED-PUB, ``paper`` (penalties act) or ``released`` (they don't)."""

    Settings = FedPUBSettings
    source = "Baek et al., Personalized subgraph federated learning, ICML 2023, arXiv 2206.10206"
    anchored = True

    def __init__(self, settings: FedPUBSettings, training: TrainingSettings) -> None:
        super().__init__(settings, training)
        if training.model.backbone != "gcn":
            raise ConfigurationError(
                "FED-PUB's functional embedding", found=f"backbone '{training.model.backbone}'", allowed="gcn"
            )

    def network(self, cell: Cell, client: int = 0) -> Network:
        """Return the masked network."""
        return self.protocol_network(cell, client, masks=Masks(self.settings.mask_threshold))

    def penalty(self, local: Parameters, received: Parameters, round: int) -> Tensor | None:
        """Return lambda_1 ||mu||_1 + lambda_2 ||theta - theta_bar||^2, [S, K]; nothing in round 1 (released)."""
        if not self.settings.penalties_act or round == 1:
            return None
        seeds, clients = stack_shape(received)
        masks = [value.abs().view(seeds, clients, -1).sum(2) for name, value in local.items() if is_mask(name)]
        distance = self.settings.proximal * squared_distance(local, received)
        return distance + self.settings.l1 * torch.stack(masks).sum(0) if masks else distance

    def memory(self, cell: Cell, data: Sequence[Sequence[Any]], shared: Parameters) -> Proxy:
        """Draw the random graph of each seed, which the server publishes: disjoint random blocks, features N(0, 1)."""
        drawn = [_draw_proxy(self.settings, cell.features, seed) for seed in cell.seeds]
        features, adjacency = (np.stack(parts) for parts in zip(*drawn, strict=True))
        return Proxy(*(torch.from_numpy(a).to(dtype=cell.dtype, device=cell.device) for a in (features, adjacency)))

    def signals(self, trained: Trained) -> dict[str, Tensor]:
        """Upload h_k: the mean over the proxy's nodes of the last convolution, before its ReLU, [S, k, width]."""
        assert isinstance(trained.network, GNN)
        return {"functional_embedding": functional_embedding(trained.network, trained.effective, trained.memory)}

    def mixing(self, uploads: Parameters, exchange: Exchange) -> Tensor:
        """Return alpha."""
        return similarity_mixing(cosine(uploads["functional_embedding"]), self.settings.tau)


def functional_embedding(network: GNN, parameters: Parameters, proxy: Proxy) -> Tensor:
    """Return the mean output of the last convolution on the proxy graph, [S, K, width]; no dropout, masks applied.

    The mean over nodes commutes with the last layer: mean(S H W + b) = mean(S H) W + b.
    """
    x, depth = proxy.features.unsqueeze(1), len(network.model.hidden_widths)
    for layer in range(1, depth):
        x = torch.relu(x @ parameters[f"conv{layer}.weight"] + _row(parameters[f"conv{layer}.bias"]))
        x = proxy.adjacency.unsqueeze(1) @ x if layer < depth - 1 else x
    mean = proxy.adjacency.mean(1)[:, None, None] @ x if depth > 1 else x.mean(2, keepdim=True)
    return (mean @ parameters[f"conv{depth}.weight"]).squeeze(2) + parameters[f"conv{depth}.bias"]


def _row(bias: Tensor) -> Tensor:
    return bias.unsqueeze(-2)


def _draw_proxy(settings: FedPUBSettings, width: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return S X and S of one seed's random graph, S = D^-1/2 (A + I) D^-1/2."""
    random = streams.generator("fedpub proxy", seed)
    nodes = settings.proxy_blocks * settings.proxy_block_nodes
    block = np.arange(nodes) // settings.proxy_block_nodes
    upper = np.triu(random.random((nodes, nodes)) < settings.proxy_edge_probability, k=1) & (block[:, None] == block)
    linked = (upper | upper.T) + np.eye(nodes)
    scale = 1.0 / np.sqrt(linked.sum(1))
    adjacency = scale[:, None] * linked * scale
    return adjacency @ random.standard_normal((nodes, width)), adjacency
