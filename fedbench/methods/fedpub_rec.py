"""FED-PUB for recommendation: masks and personalised averages of NGCF's matrices (Baek et al., ICML 2023).

The method is `fedpub`'s, on a network of user and item vectors: masks mu_k on the weight matrices theta_k alone,
    loss + lambda_1 ||mu_k||_1 + lambda_2 ||theta_k - theta_bar_k||^2,
similarity by the mean output on a random graph, here a bipartite one, and the server's average
    theta_bar_k = sum_l alpha_kl theta_l,   alpha_kl = exp(tau S(k, l)) / sum_r exp(tau S(k, r)).
It is a method of its own so that nothing of the node task's runs depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import torch
from pydantic import Field, field_validator
from torch import Tensor

from fedbench.configuration.protocol import TrainingSettings
from fedbench.errors import ConfigurationError
from fedbench.methods._bipartite_proxy import BipartiteProxy, drawn_proxy
from fedbench.methods._item_tables import shared_items
from fedbench.methods.base import Method
from fedbench.methods.exchange import Cell, Exchange, Preparation, Traffic, Trained
from fedbench.methods.weights import cosine, similarity_mixing, squared_distance, stack_shape
from fedbench.models.masked_ngcf import MaskedNGCF
from fedbench.models.masks import Masks, is_mask
from fedbench.models.network import Network
from fedbench.models.parameters import Parameters
from fedbench.models.vectors import ITEMS, USERS
from fedbench.settings import Settings
from fedbench.tasks.rec.arrays import RecProblem

INSTEAD = "NGCF's matrices, and their outputs on a random graph"
_EMBEDDING, _MASKS = "functional_embedding", "masks"


class FedPUBRecSettings(Settings):
    """Settings of FED-PUB for recommendation; defaults as for nodes, but for what says otherwise."""

    tau: float = Field(10.0, gt=0, description="similarity scale (released parser's default; its scripts: 3 or 5)")
    l1: float = Field(1e-3, ge=0, description="lambda_1, weight of the masks' L1 norm (released default)")
    proximal: float = Field(
        1e-3, ge=0, description="lambda_2, weight of the distance to the received matrices (released)"
    )
    penalties_act: bool = Field(
        True, description="false: the released code, whose penalties are computed on detached tensors: no gradient"
    )
    mask_threshold: float = Field(1e-3, ge=0, description="masks below it count as zero at evaluation (released: l1)")
    items: Literal["mixed", "private"] = Field(
        "mixed",
        description="rows of items that several clients have: averaged over these with their alpha, scaled to sum 1, "
        "or left alone (inferred: FED-PUB has no such tables)",
    )
    proxy_blocks: int = Field(5, ge=1, description="blocks of the random graph (released)")
    proxy_block_nodes: int = Field(100, ge=2, description="nodes a block (released), half users, half items (inferred)")
    proxy_edge_probability: float = Field(
        0.1, ge=0, le=1, description="of a user with an item inside a block; 0 between blocks (released)"
    )

    @field_validator("proxy_block_nodes")
    @classmethod
    def _even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("half of a block's nodes are users: give an even number")
        return value


class FedPUBRec(Method[FedPUBRecSettings]):
    """FED-PUB on NGCF's matrices; users' vectors stay, item rows are mixed among the clients that have them."""

    Settings = FedPUBRecSettings
    source = "Baek et al., Personalized subgraph federated learning, ICML 2023, arXiv 2206.10206"
    anchored = True

    def __init__(self, settings: FedPUBRecSettings, training: TrainingSettings) -> None:
        super().__init__(settings, training)
        if training.model.backbone != "ngcf":
            raise ConfigurationError(
                "run FED-PUB on recommendation",
                found=f"backbone '{training.model.backbone}'",
                allowed="ngcf, whose layers have matrices to mask",
                remedy="take one of the method's variants, or set training.model.backbone",
            )

    def prepare(self, problem: RecProblem, cell: Cell) -> Preparation:
        """Return the clients' data as they are, and how many items are in several clients, for the record."""
        known = shared_items(problem.client_data, INSTEAD if self.settings.items == "mixed" else "")
        return Preparation([problem.client_data] * len(cell.seeds), diagnostics=[known] * len(cell.seeds))

    def network(self, cell: Cell, client: int = 0) -> Network:
        """Return the masked network."""
        shape, masks = cell.shapes[client], Masks(self.settings.mask_threshold)
        network: Network = MaskedNGCF(shape.features, shape.classes, self.training.model, masks)  # type: ignore[assignment]
        return network

    def shares(self, parameter: str) -> bool:
        """Share the matrices, and item rows if they are mixed; masks never."""
        return super().shares(parameter) and (parameter != ITEMS or self.settings.items == "mixed")

    def penalty(self, local: Parameters, received: Parameters, round: int) -> Tensor | None:
        """Return lambda_1 ||mu||_1 + lambda_2 ||theta - theta_bar||^2, [S, K]; nothing in round 1 (released)."""
        if not self.settings.penalties_act or round == 1:
            return None
        seeds, clients = stack_shape(received)
        masks = [value.abs().view(seeds, clients, -1).sum(2) for name, value in local.items() if is_mask(name)]
        return self.settings.l1 * torch.stack(masks).sum(0) + self.settings.proximal * squared_distance(local, received)

    def memory(self, cell: Cell, data: Sequence[Sequence[Any]], shared: Parameters) -> BipartiteProxy:
        """Draw the random graph of each seed, which the server publishes."""
        own, width = self.settings, self.training.model.hidden_widths[0]
        return drawn_proxy(own.proxy_blocks, own.proxy_block_nodes, own.proxy_edge_probability, width, cell)

    def signals(self, trained: Trained) -> dict[str, Tensor]:
        """Upload h_k: the mean over the random graph's nodes of all layers' outputs, [S, k, layers * d].

        Layer 0 is left out: it is the graph's own vectors, the same for all clients. How large the masks are is not
        sent (`traffic`): it is for the record.
        """
        assert isinstance(trained.network, MaskedNGCF)
        proxy, clients = trained.memory, len(trained.clients)
        users, items = proxy.vectors(clients)
        final = trained.network.tables({**trained.packed, USERS: users, ITEMS: items}, proxy.block(clients))
        outputs = torch.cat(final, dim=1)[:, :, users.shape[2] :].mean(1)
        masks = [value.flatten(2) for name, value in trained.local.items() if is_mask(name)]
        return {_EMBEDDING: outputs.view(-1, clients, outputs.shape[1]), _MASKS: torch.cat(masks, dim=2)}

    def mixing(self, uploads: Parameters, exchange: Exchange) -> Tensor:
        """Return alpha."""
        return similarity_mixing(cosine(uploads[_EMBEDDING]), self.settings.tau)

    def traffic(self, shared: Parameters, signals: Parameters, exchange: Exchange) -> Traffic:
        """Return the bytes of a round: matrices both ways, h_k up; masks stay."""
        return super().traffic(shared, {_EMBEDDING: signals[_EMBEDDING]}, exchange)

    def diagnostics(self, uploads: Parameters, exchange: Exchange) -> dict[str, Tensor]:
        """Return the mean size of the masks' entries, and the share that evaluation takes as zero, [S, K]."""
        sizes = uploads[_MASKS].abs()
        small = (sizes <= self.settings.mask_threshold).to(sizes)
        return {"mask_mean": sizes.mean(2), "masks_under_threshold": small.mean(2)}
