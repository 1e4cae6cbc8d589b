"""FedPerGNN on one client's expanded graph with PyG's GATConv, and its gradients as NumPy changes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.nn import GATConv

from fedbench import seeds
from fedbench.engine.run import describe
from tests.reference.rec import DOUBLE, RecTrace
from tests.tasks.rec.plain_federation import Plain, trained
from tests.tasks.rec.plain_rec import bpr

TASKS = ("rec",)
SMALL = {"neighbours": 3, "expanded_after": 1}
CASES = (
    {"pseudo_items": 4},
    {"neighbours": 0, "clip": 0.01, "noise": 0.001},
    {"neighbours": 0, "clip": 0.01, "noise": 0.001, "noise_of": "client"},
    {"neighbours": 50, "pseudo_items": 0, "clip": None, "noise": 0.0},
    {"expanded_after": 2},
)
Model = dict[str, Tensor]


def vectors(p: Model, client: Any, received: Tensor | None, layers: int) -> Tensor:
    """Return the final vectors of users and of all rows of the item table."""
    users, outside = client.users, [] if received is None else list(received)
    h = torch.cat([p["user.weight"], *(v[None] for v in outside), p["item.weight"]])
    first, edges = users + len(outside), []
    for user, item in client.train.T.tolist():
        edges.append((user, first + item))
    for other, item in client.links.T.tolist() if outside else []:
        edges.append((users + other, first + item))
    both = torch.tensor([*edges, *((b, a) for a, b in edges)]).T
    for layer in range(1, layers + 1):
        conv = GATConv(h.shape[1], h.shape[1], bias=False).double()
        weights = {"lin.weight": p[f"layer{layer}.weight"].T, "att_src": p[f"layer{layer}.sent"][None],
                   "att_dst": p[f"layer{layer}.own"][None]}  # fmt: skip
        h = torch.func.functional_call(conv, weights, (h, both))
        h = nn.functional.elu(h) if layer < layers else h
    return torch.cat([h[:users], h[first:]])


def hidden_gradients(model: Model, client: Any, settings: Any, at: tuple[int, int, int, int], users: int) -> None:
    """Fill in pseudo-items' gradients, clip, and add noise; ``at``: seed, client, round, step."""
    scale = settings.noise / (users**0.5 if settings.noise_of == "users" else 1)
    rows = np.arange(client.items)
    pseudo, real = np.setdiff1d(rows, client.own), model["item.weight"].grad.numpy()[client.own]
    if len(pseudo):
        real = real[np.abs(real).sum(1) > 0]
        drawn = seeds.generator("fedpergnn pseudo-gradients", *at).standard_normal((len(pseudo), real.shape[1]))
        covariance = np.atleast_2d(np.cov(real.T)) if len(real) > 1 else np.zeros((real.shape[1],) * 2)
        left, values, right = np.linalg.svd(covariance)
        root = left @ np.diag(np.sqrt(values)) @ right
        model["item.weight"].grad[pseudo] = torch.from_numpy(real.mean(0) + drawn @ root)
    for name, parameter in model.items():
        chosen = {"item.weight": rows[client.leaving], "user.weight": client.sent}.get(name, np.arange(len(parameter)))
        own = parameter.grad[chosen].numpy()
        noise = seeds.generator("fedpergnn noise", *at, name).laplace(0, scale, own.shape)
        parameter.grad[chosen] = torch.from_numpy(np.minimum(np.maximum(own, -settings.clip), settings.clip) + noise)


def rec(method: Any, problem: Any, seed: int) -> RecTrace:
    """What expansion added to the graphs is the suite's."""
    cell, settings, layers = describe(problem, method, (seed,), DOUBLE), method.settings, method.training.model.layers
    data, received, learning = method.prepare(problem, cell).data[0], [None] * problem.clients, {}

    def loss(model: Model, k: int, batch: Any) -> Tensor:
        start = torch.cat([model["user.weight"], model["item.weight"]])
        who, taken, others = batch
        learning[k] = len(set(who.tolist()))
        placed = who, data[k].own[taken], data[k].own[others]
        return bpr(vectors(model, data[k], received[k], layers), start, placed, data[k], method.training)

    def own_vectors(model: Model, k: int) -> Tensor:
        users, items = vectors(model, data[k], received[k], layers).split([data[k].users, data[k].items])
        return torch.cat([users, items[data[k].own]])

    def hide(model: Model, k: int, round: int, number: int) -> None:
        if settings.clip is not None:
            hidden_gradients(model, data[k], settings, (seed, k, round, number), learning[k])

    def exchange(models: list[Model], round: int) -> None:
        if round < settings.expanded_after:
            return
        tables = [model["user.weight"].detach().clone() for model in models]
        for k, client in enumerate(data):
            whom = zip(client.senders, client.places, strict=True)
            rows = [tables[sender][data[sender].sent[place]] for sender, place in whom]
            received[k] = torch.stack(rows) if rows else None

    plain = Plain(
        vectors=own_vectors,
        loss=loss,
        shared=lambda name: name.startswith("layer"),
        corrected=hide,
        after=exchange,
        names=[client.item_ids.tolist() for client in data],
    )
    return trained(plain, method, problem, seed, tolerance=1e-7)
