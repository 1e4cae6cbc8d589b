"""FedPerGNN on one client's expanded graph with PyG's GATConv, and its gradients as NumPy changes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.nn import GATConv

from fedbench import seeds

TASKS = ("rec",)
SMALL = {"neighbours": 3, "expanded_after": 1}
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
