"""FED-PUB on NGCF: dense matrices, torch's Adam, cosines and their softmax pair by pair."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from fedbench.methods._bipartite_proxy import drawn_proxy
from fedbench.methods.exchange import Cell
from fedbench.tasks.rec.arrays import ClientPairs
from tests.reference.plans import Settings, softmax_of_cosines
from tests.reference.rec import Model, RecTrace, item_ids, mix_items, trace_of
from tests.tasks.rec.plain_rec import bpr, dense_adjacency, ngcf

TASKS = ("rec",)
SMALL = {"proxy_blocks": 2, "proxy_block_nodes": 12, "proxy_edge_probability": 0.4}
CASES = ({"l1": 0.05, "proximal": 0.3, "tau": 4.0}, {"mask_threshold": 0.98})


class Program:
    def __init__(self, settings: Settings, training: Any, problem: Any, seed: int) -> None:
        self.settings, self.training, self.problem = settings, training, problem
        self.ids, self.optimisers = item_ids(problem), {}
        self.adjacency = [dense_adjacency(client) for client in problem.client_data]
        blocks, nodes, edge = settings.proxy_blocks, settings.proxy_block_nodes, settings.proxy_edge_probability
        counts = torch.ones(1, dtype=torch.int64)
        cell = Cell((), (seed,), counts, counts, torch.float64, torch.device("cpu"))
        proxy = drawn_proxy(blocks, nodes, edge, training.model.width, cell)
        self.proxy_vectors = torch.cat([proxy.users[0], proxy.items[0]])
        self.proxy = self.normalised(proxy.taken[0])

    @staticmethod
    def normalised(taken: Tensor) -> Tensor:
        users, items = taken.shape
        whole = torch.zeros(users + items, users + items, dtype=torch.float64)
        whole[:users, users:], whole[users:, :users] = taken, taken.T
        root = torch.where(whole.sum(1) > 0, whole.sum(1) ** -0.5, 0.0)
        return root[:, None] * whole * root

    def masked(self, model: Model, threshold: float) -> Model:
        out = {name: value for name, value in model.items() if not name.endswith(".mask")}
        for name in [name for name in model if name.endswith(".mask")]:
            mask = model[name]
            weight = name.replace(".mask", ".weight")
            out[weight] = model[weight] * torch.where(mask.abs() > threshold, mask, 0.0)
        return out

    def begin(self, models: list[Model], round: int) -> None:
        self.round, self.received = round, [{n: v.detach().clone() for n, v in m.items()} for m in models]

    def step(self, k: int, model: Model, client: ClientPairs, batch: Any) -> float:
        if k not in self.optimisers:
            for table in model.values():
                table.requires_grad_()
            self.optimisers[k] = torch.optim.Adam(model.values(), lr=self.training.learning_rate)
        begin = torch.cat([model["user.weight"], model["item.weight"]])
        final = ngcf(self.masked(model, 0.0), self.adjacency[k], self.training.model.layers)
        loss = bpr(final, begin, batch, client, self.training)
        total = loss
        if self.settings.penalties_act and self.round > 1:
            total = total + self.settings.l1 * sum(v.abs().sum() for n, v in model.items() if n.endswith(".mask"))
            near = sum((v - self.received[k][n]).square().sum() for n, v in model.items() if self.matrix(n))
            total = total + self.settings.proximal * near
        self.optimisers[k].zero_grad()
        total.backward()
        self.optimisers[k].step()
        return float(loss.detach())

    @staticmethod
    def matrix(name: str) -> bool:
        return name.startswith("layer") and name.endswith(".weight")

    def embedding(self, model: Model) -> Tensor:
        width = self.training.model.width
        own = {**self.masked(model, self.settings.mask_threshold),
               "user.weight": self.proxy_vectors, "item.weight": self.proxy_vectors[:0]}  # fmt: skip
        return ngcf(own, self.proxy, self.training.model.layers)[:, width:].mean(0)

    def server(self, models: list[Model]) -> None:
        with torch.no_grad():
            weights = softmax_of_cosines([self.embedding(model) for model in models], self.settings.tau)
            for name in filter(self.matrix, models[0]):
                sent = [model[name].clone() for model in models]
                for k, model in enumerate(models):
                    model[name].copy_(sum(w * matrix for w, matrix in zip(weights[k], sent, strict=True)))
            if self.settings.items == "mixed":
                mix_items(models, self.ids, np.asarray(weights))

    def vectors(self, k: int, model: Model) -> tuple[Tensor, Tensor]:
        own = {name: value.detach() for name, value in self.masked(model, self.settings.mask_threshold).items()}
        final = ngcf(own, self.adjacency[k], self.training.model.layers)
        users = self.problem.client_data[k].users
        return final[:users], final[users:]


def rec(method: Any, problem: Any, seed: int) -> RecTrace:
    return trace_of(Program, method, problem, seed)
