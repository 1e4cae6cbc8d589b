"""FedHGNN with dense meta-path matrices and PyG's GATConv."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.nn import GATConv

from tests.reference.rec import RecTrace
from tests.tasks.rec.plain_federation import Plain, trained
from tests.tasks.rec.plain_rec import bpr

TASKS = ("rec",)
SMALL = {"groups": 4, "vectors": 3, "neighbours": 5, "hidden": 3}
CASES = ({"perturb": False, "heads": 1}, {"weights": "uniform", "neighbours": 100})
Model = dict[str, Tensor]


def path_edges(matrix: np.ndarray, most: int) -> Tensor:
    """Return edges from neighbours to nodes, [2, m]: rows that share most columns, and the node itself."""
    shared, edges = matrix @ matrix.T, []
    for node in range(len(matrix)):
        others = [j for j in range(len(matrix)) if j != node and shared[node, j] > 0]
        others.sort(key=lambda j: (-shared[node, j], j))
        edges += [(j, node) for j in [node, *others[:most]]]
    return torch.tensor(edges).T


def side(p: Model, name: str, table: Tensor, edges: Tensor, heads: int, hidden: int) -> Tensor:
    """Return one side's final vectors."""
    conv = GATConv(table.shape[1], hidden, heads, add_self_loops=False, bias=False).double()
    weights = {"lin.weight": p[f"han.{name}.weight"].T, "att_src": p[f"han.{name}.sent"][None],
               "att_dst": p[f"han.{name}.own"][None]}  # fmt: skip
    z = nn.functional.elu(torch.func.functional_call(conv, weights, (table, edges)))
    return z @ p[f"han.{name}.out.weight"] + p[f"han.{name}.out.bias"]


def rec(method: Any, problem: Any, seed: int) -> RecTrace:
    """Train on what the method published; meta-paths and networks are built anew."""
    settings, clients = method.settings, problem.client_data
    published = [method._published(client, seed, k) for k, client in enumerate(clients)]
    dense = [np.zeros((client.users, problem.dataset.n_items)) for client in clients]
    for rows, client, (user, item) in zip(dense, clients, published, strict=True):
        rows[user, client.item_ids[item]] = 1
    everyone = np.concatenate(dense)
    user_edges = [path_edges(rows, settings.neighbours) for rows in dense]
    item_edges = [path_edges(everyone[:, client.item_ids].T, settings.neighbours) for client in clients]

    def vectors(model: Model, k: int) -> Tensor:
        users = side(model, "users", model["user.weight"], user_edges[k], settings.heads, settings.hidden)
        items = side(model, "items", model["item.weight"], item_edges[k], settings.heads, settings.hidden)
        return torch.cat([users, items])

    def loss(model: Model, k: int, batch: Any) -> Tensor:
        start = torch.cat([model["user.weight"], model["item.weight"]])
        return bpr(vectors(model, k), start, batch, clients[k], method.training)

    counts = [float(client.train.shape[1]) for client in clients]
    weights = counts if settings.weights == "train_nodes" else None
    plain = Plain(vectors=vectors, loss=loss, shared=lambda name: name.startswith("han."), weights=weights)
    return trained(plain, method, problem, seed)
