"""The layers in front of LPSFed's pooling network, and the network's first linear map of them.

[Z^(0) | ... | Z^(L)] W is never written out for all users and items. Low-pass layers collapse (`fedbench.models.lgcn`):
with W falling into W_0 ... W_L it is Z^(0) W_0 + P sum_l diag(k^(1) ... k^(l)) P^T Z^(0) W_l, so a batch needs its own
rows of Z^(0) and P only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from fedbench.configuration.protocol import ModelSettings
from fedbench.kernels.bipartite import Rows, rows_of_mean
from fedbench.models.lgcn import LGCN, rows_times
from fedbench.models.lightgcn import LightGCN
from fedbench.models.ngcf import NGCF
from fedbench.models.parameters import Parameter, Parameters
from fedbench.models.ranking import RecBlock
from fedbench.models.vectors import ITEMS, USERS, VectorNetwork, flat

Chosen = tuple[Tensor, Tensor]
"""Rows of users int64[a] and of items int64[b], ascending."""


class Layers(Protocol):
    """What gives Z^(0) ... Z^(L)."""

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare the tables of layer 0, and what the layers train."""

    def mapped(self, parameters: Parameters, block: RecBlock, chosen: Chosen, weight: Tensor) -> Rows:
        """Return [Z^(0) | ... | Z^(L)] W of some rows, and their Z^(0); ``weight`` [clients, (L + 1) d, out]."""


@dataclass(frozen=True)
class LowPassLayers:
    """LGCN's: Z^(l+1) = P diag(k^(l)) P^T Z^(l)."""

    lgcn: LGCN

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare the tables and a kernel a layer."""
        return self.lgcn.parameters()

    def mapped(self, parameters: Parameters, block: RecBlock, chosen: Chosen, weight: Tensor) -> Rows:
        """Return the mapped layers of some rows."""
        basis, (first, *others) = block.low_pass, weight.split(self.lgcn.model.hidden_widths[0], dim=1)
        base = rows_of_mean(None, 0, chosen, flat(parameters[USERS]), flat(parameters[ITEMS]))
        projected = basis.users.mT @ parameters[USERS] + basis.items.mT @ parameters[ITEMS]
        kernels = torch.stack([parameters[f"kernel{layer}.weight"] for layer in range(1, len(others) + 1)]).cumprod(0)
        parts = [k.unsqueeze(2) * (projected @ own) for k, own in zip(kernels, others, strict=True)]
        filtered = torch.stack(parts).sum(0)
        sizes = (sizes_of(chosen[0], self.lgcn.users, len(weight)), sizes_of(chosen[1], self.lgcn.items, len(weight)))
        users = times_own(base.users, first, sizes[0]) + rows_times(basis.users, chosen[0], filtered)
        items = times_own(base.items, first, sizes[1]) + rows_times(basis.items, chosen[1], filtered)
        return Rows(users, items, base.base_users, base.base_items)


@dataclass(frozen=True)
class GraphLayers:
    """Layers of a convolution over neighbours, made for everyone and then chosen from."""

    vectors: VectorNetwork

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare the tables, and what the convolution trains."""
        return self.vectors.parameters()

    def mapped(self, parameters: Parameters, block: RecBlock, chosen: Chosen, weight: Tensor) -> Rows:
        """Return the mapped layers of some rows."""
        width, network = self.vectors.model.hidden_widths[0], self.vectors
        tables = network.tables(parameters, block)
        users, items = (flat(table).index_select(0, rows) for table, rows in zip(tables, chosen, strict=True))
        sizes = (sizes_of(chosen[0], network.users, len(weight)), sizes_of(chosen[1], network.items, len(weight)))
        mapped = times_own(users, weight, sizes[0]), times_own(items, weight, sizes[1])
        return Rows(*mapped, users[:, :width], items[:, :width])


@dataclass(frozen=True)
class StackedLightGCN(LightGCN):
    """LightGCN whose tables are its layers one after another instead of their mean."""

    def tables(self, parameters: Parameters, block: RecBlock) -> tuple[Tensor, Tensor]:
        """Return E^(0) ... E^(L) of everyone, [clients, users, (L + 1) d] and items likewise."""
        users, items = parameters[USERS], parameters[ITEMS]
        found = [(users, items)]
        for _ in range(self.model.layers):
            near_users = (block.graph @ flat(items)).view_as(users)
            users, items = near_users, (block.graph.transposed @ flat(users)).view_as(items)
            found.append((users, items))
        all_users, all_items = (torch.cat(parts, dim=2) for parts in zip(*found, strict=True))
        return all_users, all_items


def layers_named(name: str, users: int, items: int, model: ModelSettings) -> Layers:
    """Return the layers ``lgcn``, ``ngcf`` or ``lightgcn``."""
    size = (users, items, model)
    if name == "lgcn":
        return LowPassLayers(LGCN(*size))
    return GraphLayers({"ngcf": NGCF, "lightgcn": StackedLightGCN}[name](*size))


def sizes_of(rows: Tensor, each: int, clients: int) -> list[int]:
    """Return how many of some ascending rows are each client's, ``each`` rows a client."""
    if clients == 1:
        return [len(rows)]
    counts: list[int] = torch.bincount(rows // each, minlength=clients).tolist()
    return counts


def times_own(values: Tensor, weights: Tensor, sizes: list[int]) -> Tensor:
    """Return rows [r, in] times their own client's matrix, ``weights`` [clients, in, out]."""
    if len(sizes) == 1:
        return values @ weights[0]
    return torch.cat([part @ own for part, own in zip(values.split(sizes), weights, strict=True)])


def own_rows(values: Tensor, sizes: list[int]) -> Tensor:
    """Return what each client has [clients, out] beside each of its rows, [r, out]."""
    if len(sizes) == 1:
        return values
    return values.repeat_interleave(torch.tensor(sizes, device=values.device), dim=0)
