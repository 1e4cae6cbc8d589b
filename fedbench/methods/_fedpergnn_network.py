"""FedPerGNN's network: graph attention over own users, items, and outside users whose vectors were received."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from scipy import sparse
from torch import Tensor
from torch.nn.functional import elu

from fedbench.kernels.attention import Neighbourhoods, attend, neighbourhoods
from fedbench.kernels.bipartite import Rows
from fedbench.methods._fedpergnn_expansion import ExpandedPairs
from fedbench.models.parameters import Parameter, Parameters, glorot
from fedbench.models.ranking import PairBatch, RecBlock
from fedbench.models.vectors import ITEMS, USERS, VectorNetwork
from fedbench.models.whole_tables import rows_of_tables
from fedbench.tasks.rec import block as rec


@dataclass(frozen=True)
class ExpandedBlock(rec.RecBlock):
    """Clients with the vectors of their outside users, ``received`` [clients, o, d], zero behind a client's own o."""

    received: Tensor = field(kw_only=True)


@dataclass(frozen=True)
class ExpandedGAT(VectorNetwork):
    """h_i <- sum over j of alpha_ij W h_j, alpha_ij = softmax over j of LeakyReLU(a . [W h_i | W h_j]).

    j runs over i itself and its neighbours: users see their items, items their users and outside users, these the
    items that link them (Velickovic et al., ICLR 2018); ELU between layers. Received vectors are constants.
    ``layer<l>.*`` may leave a client.
    """

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare the tables, then W [d, d] and the two halves of a [1, d] of each layer, from Glorot's rule."""
        width = self.model.hidden_widths[0]
        shapes = {"weight": (width, width), "sent": (1, width), "own": (1, width)}
        layers = range(1, self.model.layers + 1)
        named = {f"layer{n}.{part}": Parameter(shape, glorot) for n in layers for part, shape in shapes.items()}
        return {**super().parameters(), **named}

    def rows(self, parameters: Parameters, batch: PairBatch) -> Rows:
        """Return the final vectors of the rows that a batch touches, and those of layer 0."""
        return rows_of_tables(self.tables(parameters, batch.block), parameters, batch)

    def tables(self, parameters: Parameters, block: RecBlock) -> tuple[Tensor, Tensor]:
        """Return the final vectors of everyone, [clients, users, d] and [clients, items, d]."""
        users, items = parameters[USERS], parameters[ITEMS]
        received = (
            block.received if isinstance(block, ExpandedBlock) else users.new_zeros(len(users), 0, users.shape[2])
        )
        outside = received.shape[1]
        graph = block.once(f"attention {bool(outside)}", lambda: _graph(block, outside))
        h = torch.cat([users, received, items], dim=1)
        for layer in range(1, self.model.layers + 1):
            x = h @ parameters[f"layer{layer}.weight"]
            sent, own = ((x * parameters[f"layer{layer}.{part}"]).sum(2).flatten() for part in ("sent", "own"))
            h = attend(graph, x.flatten(0, 1), sent, own).view_as(x)
            h = elu(h) if layer < self.model.layers else h
        final_users, _, final_items = h.split([users.shape[1], outside, items.shape[1]], dim=1)
        return final_users, final_items


def _graph(block: RecBlock, outside: int) -> Neighbourhoods:
    clients: Sequence[ExpandedPairs] = block.clients
    return neighbourhoods([_joint(client, outside) for client in clients], block.tensor(0.0).device)


def _joint(client: ExpandedPairs, outside: int) -> sparse.csr_matrix:
    """Return who sees whom: users, ``outside`` outside users, items; with 0 of them the client's own graph."""
    first_item, nodes = client.users + outside, client.users + outside + client.items
    links = client.links if outside else client.links[:, :0]
    near = np.concatenate([client.train[0], client.users + links[0]])
    item = first_item + np.concatenate([client.train[1], links[1]])
    rows, columns = (np.concatenate([a, b, np.arange(nodes)]) for a, b in ((near, item), (item, near)))
    return sparse.csr_matrix((np.ones(rows.size, dtype=np.int8), (rows, columns)), shape=(nodes, nodes))
