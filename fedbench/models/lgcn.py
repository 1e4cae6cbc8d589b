"""LGCN: graph convolution by trained low-pass filters (Yu, Zhang, Qin, AAAI 2022).

    Z^(l+1) = P diag(k^(l)) P^T Z^(l)

with P the eigenvectors of the lowest frequencies and k a trained kernel a layer. Since P^T P = I, the layers collapse:
Z^(l) = P diag(k^(1) ... k^(l)) P^T Z^(0). One projection serves all layers, and a batch needs its own rows of P only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from fedbench.kernels.bipartite import Rows, rows_of_mean
from fedbench.kernels.low_pass import LowPass
from fedbench.models.parameters import Parameter, Parameters
from fedbench.models.ranking import PairBatch, RecBlock
from fedbench.models.vectors import ITEMS, USERS, VectorNetwork, flat, normal_of


@dataclass(frozen=True)
class LGCN(VectorNetwork):
    """Final vectors are the sum over layers of Z^(l) / (l + 1), its authors' best pooling; no transform, no activation.

    The kernels ``kernel<l>.weight`` [frequencies] may leave a client, the tables may not.
    """

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare the tables, and a kernel a layer from N(0.01, 0.02^2), as LPSFed's code starts them."""
        kernel = Parameter((self.model.embedding.frequencies,), normal_of(0.02, mean=0.01))
        kernels = {f"kernel{layer}.weight": kernel for layer in range(1, self.model.layers + 1)}
        return {**super().parameters(), **kernels}

    def rows(self, parameters: Parameters, batch: PairBatch) -> Rows:
        """Return the final vectors of the rows that a batch touches, and those of layer 0."""
        users, items, basis = parameters[USERS], parameters[ITEMS], batch.block.low_pass
        chosen = batch.user_rows, batch.item_rows
        base = rows_of_mean(None, 0, chosen, flat(users), flat(items))
        filtered = self._filtered(parameters, basis)
        smooth = rows_times(basis.users, chosen[0], filtered), rows_times(basis.items, chosen[1], filtered)
        return Rows(base.users + smooth[0], base.items + smooth[1], base.base_users, base.base_items)

    def tables(self, parameters: Parameters, block: RecBlock) -> tuple[Tensor, Tensor]:
        """Return the final vectors of everyone, [clients, users, d] and [clients, items, d]."""
        basis = block.low_pass
        filtered = self._filtered(parameters, basis)
        return parameters[USERS] + basis.users @ filtered, parameters[ITEMS] + basis.items @ filtered

    def _filtered(self, parameters: Parameters, basis: LowPass) -> Tensor:
        """Return the sum over layers from 1 of diag(k^(1) ... k^(l)) P^T Z^(0) / (l + 1), [clients, frequencies, d]."""
        kernels = [parameters[f"kernel{layer}.weight"] for layer in range(1, self.model.layers + 1)]
        products = torch.stack(kernels).cumprod(0)
        weights = 1.0 / torch.arange(2, len(kernels) + 2, dtype=products.dtype, device=products.device)
        kernel = (weights.view(-1, 1, 1) * products).sum(0)
        projected = basis.users.mT @ parameters[USERS] + basis.items.mT @ parameters[ITEMS]
        return kernel.unsqueeze(2) * projected


def rows_times(basis: Tensor, rows: Tensor, values: Tensor) -> Tensor:
    """Return chosen rows of basis [clients, n, F] times their own client's values [clients, F, d], [rows, d]."""
    chosen = flat(basis).index_select(0, rows)
    if len(basis) == 1:
        return chosen @ values[0]
    sizes = torch.bincount(rows // basis.shape[1], minlength=len(basis)).tolist()
    return torch.cat([part @ own for part, own in zip(chosen.split(sizes), values, strict=True)])
