"""One training step of recommendation on a whole graph: ours, and others' that compute the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from benchmarks.graphs import Problem
from fedbench.configuration.protocol import TrainingSettings
from fedbench.engine.optimisers import AdamSettings, StackedAdam
from fedbench.kernels.bipartite import normalised
from fedbench.models.parameters import draw
from fedbench.models.vectors import ITEMS, USERS
from fedbench.tasks.rec.arrays import load_rec
from fedbench.tasks.rec.batches import steps
from fedbench.tasks.rec.block import Batch, RecBlock
from fedbench.tasks.rec.task import TASK
from fedbench.tasks.task import Place, Shape

Loss = Callable[[Batch, Any], Tensor]


@dataclass
class Ours:
    """The suite's network, batches and optimiser on one client with everything."""

    files: Problem
    training: TrainingSettings
    batches: Iterator[Any] = field(init=False)

    def __post_init__(self) -> None:
        self.parameters = {name: table.clone().requires_grad_() for name, table in self.start.items()}
        self.optimiser = StackedAdam(self.parameters, AdamSettings(self.training.learning_rate, 0.0))
        self.batches = steps(self.block, self.training, [(0, 0)], 1, 0)

    @cached_property
    def block(self) -> RecBlock:
        problem = load_rec(self.files.dataset, self.files.partition)
        block: RecBlock = TASK.pack([[problem.pooled_data()]], problem, self.training.model, Place())
        return block

    @cached_property
    def network(self) -> Any:
        (client,) = self.block.clients
        return TASK.network(Shape(client.users, client.items), self.training.model)

    @cached_property
    def start(self) -> dict[str, Tensor]:
        drawn = draw(self.network.parameters(), 0)
        return {name: torch.from_numpy(value).float().unsqueeze(0) for name, value in drawn.items()}

    def batch(self) -> Batch:
        """Draw the next batch, negatives included."""
        found: Batch = next(self.batches).block
        return found

    def gradients(self, batch: Batch) -> tuple[float, list[Tensor]]:
        """Return loss and gradients at the present parameters."""
        loss = batch.loss(self.network.forward(self.parameters, batch, None)).sum()
        return float(loss.detach()), list(torch.autograd.grad(loss, list(self.parameters.values())))

    def step(self) -> None:
        """Draw a batch and step along its gradient."""
        _, found = self.gradients(self.batch())
        with torch.no_grad():
            self.optimiser.step(dict(zip(self.parameters, found, strict=True)), [True])


@dataclass
class Theirs:
    """Another program for the same loss: its module's parameters, torch's Adam; batches are given to it."""

    module: torch.nn.Module
    loss: Loss

    def __post_init__(self) -> None:
        self.optimiser = torch.optim.Adam(self.module.parameters(), lr=1e-3, fused=True)

    def gradients(self, batch: Batch) -> tuple[float, list[Tensor]]:
        """Return loss and gradients at the present parameters."""
        loss = self.loss(batch, self.module)
        return float(loss.detach()), list(torch.autograd.grad(loss, list(self.module.parameters())))

    def step(self, batch: Batch) -> None:
        """Step along a batch's gradient."""
        self.optimiser.zero_grad()
        self.loss(batch, self.module).backward()
        self.optimiser.step()


def joint_adjacency(block: RecBlock) -> tuple[Tensor, Tensor]:
    """Return both directions of every pair int64[2, 2m] in joint numbers, and D^(-1/2) A D^(-1/2) of each."""
    (client,) = block.clients
    pairs = torch.from_numpy(client.train) + torch.tensor([[0], [client.users]])
    weights = torch.from_numpy(normalised(client.taken)).float()
    return torch.cat([pairs, pairs.flip(0)], dim=1), weights.repeat(2)


def as_csr(edges: Tensor, weights: Tensor, nodes: int) -> Tensor:
    """Return the adjacency as torch's sparse CSR."""
    return torch.sparse_coo_tensor(edges, weights, (nodes, nodes)).coalesce().to_sparse_csr()


def pyg_light_gcn(ours: Ours, layers: int, adjacency: tuple[Tensor, Tensor | None]) -> Theirs:
    """Return PyG's LightGCN from the same tables, the normalised adjacency given to it."""
    from torch_geometric.nn import LightGCN

    users, items = (ours.start[name][0] for name in (USERS, ITEMS))
    module = LightGCN(len(users) + len(items), users.shape[1], layers, normalize=False)
    with torch.no_grad():
        module.embedding.weight.copy_(torch.cat([users, items]))
    edges, weights = adjacency

    def loss(batch: Batch, model: Any) -> Tensor:
        user, item = batch.user_rows[batch.user], batch.item_rows[batch.item] + len(users)
        labels = torch.cat([torch.stack([user, item[:, place]]) for place in range(2)], dim=1)
        ranks = model(edges, labels, weights)
        touched = torch.cat([user, item[:, 0], item[:, 1]])
        found: Tensor = model.recommendation_loss(
            *ranks.chunk(2), node_id=touched, lambda_reg=ours.training.ranking.l2 / 2
        )
        return found

    return Theirs(module, loss)


class JointTable(torch.nn.Module):
    """A joint table and LGCN's kernels as a plain module."""

    def __init__(self, table: Tensor, kernels: list[Tensor]) -> None:
        super().__init__()
        self.table = torch.nn.Parameter(table.clone())
        self.kernels = torch.nn.ParameterList([kernel.clone() for kernel in kernels])


def written_lgcn(ours: Ours, layers: int) -> Theirs:
    """Return LGCN as its formulas are written: Z^(l+1) = P diag(k) P^T Z^(l) for all nodes, layer after layer."""
    basis = ours.block.low_pass
    vectors = torch.cat([basis.users[0], basis.items[0]])
    table = torch.cat([ours.start[USERS][0], ours.start[ITEMS][0]])
    kernels = [ours.start[f"kernel{layer}.weight"][0] for layer in range(1, layers + 1)]
    users = ours.start[USERS].shape[1]

    def loss(batch: Batch, model: Any) -> Tensor:
        layer = final = model.table
        for number, kernel in enumerate(model.kernels, start=1):
            layer = vectors @ (kernel[:, None] * (vectors.T @ layer))
            final = final + layer / (number + 1)
        user, item = batch.user_rows[batch.user], batch.item_rows[batch.item] + users
        scores = (final[user].unsqueeze(1) * final[item]).sum(2)
        squares = model.table[user].square().sum(1) + model.table[item].square().sum((1, 2))
        return (0.5 * batch.ranking.l2 * squares - logsigmoid(scores[:, 0] - scores[:, 1])).mean()

    return Theirs(JointTable(table, kernels), loss)


def apart(ours: list[Tensor], theirs: list[Tensor]) -> float:
    """Return the largest difference of two gradients, relative to the largest entry; tables first, user before item."""
    mine = [torch.cat([ours[0][0], ours[1][0]]), *(kernel[0] for kernel in ours[2:])]
    return max(float((a - b).abs().max() / b.abs().max()) for a, b in zip(mine, theirs, strict=True))
