"""A random user-item graph on which a server compares clients' networks (FED-PUB, section 4.2, for recommendation)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from fedbench import seeds as streams
from fedbench.kernels.bipartite import bipartite
from fedbench.kernels.sparse import SparseMatrix
from fedbench.methods.exchange import Cell


@dataclass(frozen=True)
class ProxyBlock:
    """The random graphs of some packed clients, as networks of vectors read them."""

    graph: SparseMatrix


@dataclass(frozen=True)
class BipartiteProxy:
    """The random graphs, one a seed.

    Attributes:
        taken: 0-1 matrices, users by items, [S, n, n].
        users, items: vectors of their nodes, [S, n, d] each.
    """

    taken: Tensor
    users: Tensor
    items: Tensor

    def block(self, clients: int) -> ProxyBlock:
        """Return each seed's graph once a client, seed-major."""
        drawn = [sparse.csr_matrix(taken.cpu().numpy()) for taken in self.taken]
        repeated = [taken for taken in drawn for _ in range(clients)]
        return ProxyBlock(bipartite(repeated, self.users.dtype, self.users.device))

    def vectors(self, clients: int) -> tuple[Tensor, Tensor]:
        """Return the nodes' vectors once a client, [S * clients, n, d] each."""
        users, items = (each.repeat_interleave(clients, dim=0) for each in (self.users, self.items))
        return users, items


def drawn_proxy(blocks: int, block_nodes: int, probability: float, width: int, cell: Cell) -> BipartiteProxy:
    """Draw each seed's graph: disjoint random blocks of half users and half items, vectors N(0, 1).

    Args:
        blocks: number of blocks.
        block_nodes: nodes a block, an even number.
        probability: of a pair inside a block; none between blocks.
        width: d.
        cell: its seeds, precision and device.
    """
    side = block_nodes // 2
    block = np.arange(blocks * side) // side
    taken, users, items = [], [], []
    for seed in cell.seeds:
        random = streams.generator("fedpub proxy", seed)
        met = (random.random((len(block), len(block))) < probability) & (block[:, None] == block)
        taken.append(met.astype(np.float32))
        users.append(random.standard_normal((len(block), width)))
        items.append(random.standard_normal((len(block), width)))
    arrays = (taken, users, items)
    return BipartiteProxy(*(torch.from_numpy(np.stack(a)).to(dtype=cell.dtype, device=cell.device) for a in arrays))
