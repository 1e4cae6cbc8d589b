"""HAN on user-item graphs: attention over meta-path neighbours (Wang et al., WWW 2019; FedHGNN, WWW 2024).

    z_i = || over heads of ELU(sum over j of alpha_ij x_j W)
    alpha_ij = softmax over j of LeakyReLU(a . [x_i W | x_j W])

for users over U-I-U and for items over I-U-I, each with weights of its own, then a linear map. With one meta-path a
kind of node the attention over meta-paths is 1, and left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import elu

from fedbench.kernels.attention import Neighbourhoods, attend, neighbourhoods
from fedbench.kernels.bipartite import Rows
from fedbench.models.parameters import Parameter, Parameters, glorot, zeros
from fedbench.models.ranking import PairBatch, RecBlock
from fedbench.models.vectors import ITEMS, USERS, VectorNetwork
from fedbench.models.whole_tables import rows_of_tables


@dataclass(frozen=True)
class HAN(VectorNetwork):
    """One layer. ``han.<side>.*`` may leave a client; so may rows of items that others have.

    Clients' data have ``user_paths`` and ``item_paths``, square sparse matrices whose entries are neighbours.

    Args:
        heads: of the attention.
        hidden: width of a head.
    """

    heads: int
    hidden: int

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare the tables and both sides' weights, from Glorot's rule."""
        width, inner = self.model.hidden_widths[0], self.heads * self.hidden
        of_side = {
            "weight": Parameter((width, inner), glorot),
            "sent": Parameter((self.heads, self.hidden), glorot),
            "own": Parameter((self.heads, self.hidden), glorot),
            "out.weight": Parameter((inner, width), glorot),
            "out.bias": Parameter((width,), zeros),
        }
        named = {f"han.{side}.{part}": p for side in ("users", "items") for part, p in of_side.items()}
        return {**super().parameters(), **named}

    def rows(self, parameters: Parameters, batch: PairBatch) -> Rows:
        """Return the final vectors of the rows that a batch touches, and those of layer 0."""
        return rows_of_tables(self.tables(parameters, batch.block), parameters, batch)

    def tables(self, parameters: Parameters, block: RecBlock) -> tuple[Tensor, Tensor]:
        """Return the final vectors of everyone, [clients, users, d] and [clients, items, d]."""
        users, items = block.once("paths", lambda: (_graph(block, "user_paths"), _graph(block, "item_paths")))
        final = _side(parameters, "users", users, parameters[USERS])
        return final, _side(parameters, "items", items, parameters[ITEMS])


def _graph(block: RecBlock, path: str) -> Neighbourhoods:
    return neighbourhoods([getattr(client, path) for client in block.clients], block.tensor(0.0).device)


def _side(parameters: Parameters, side: str, graph: Neighbourhoods, table: Tensor) -> Tensor:
    """Return one side's final vectors, [clients, n, d]."""
    part = {name: parameters[f"han.{side}.{name}"] for name in ("weight", "sent", "own", "out.weight", "out.bias")}
    x = (table @ part["weight"]).unflatten(2, part["sent"].shape[1:])
    sent, own = ((x * part[name].unsqueeze(1)).sum(3).flatten(0, 1).unbind(1) for name in ("sent", "own"))
    heads = zip(x.flatten(0, 1).unbind(1), sent, own, strict=True)
    z = torch.cat([elu(attend(graph, vectors, s, o)) for vectors, s, o in heads], dim=1)
    return z.view(*table.shape[:2], -1) @ part["out.weight"] + part["out.bias"].unsqueeze(1)
