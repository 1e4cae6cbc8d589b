"""Final vectors of users and items of every backbone, on dense matrices; of PinSage's walks the suite's own draws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from fedbench import seeds
from fedbench.configuration.protocol import ModelSettings
from fedbench.kernels.visits import important_neighbours
from fedbench.tasks.rec.arrays import ClientPairs
from tests.tasks.rec.plain_rec import dense_adjacency, lightgcn, ngcf

Model = dict[str, Tensor]
Vectors = Callable[[Model], Tensor]
"""A client's parameters to the vectors of its users and items, [users + items, d]."""


def low_frequencies(laplacian: np.ndarray, count: int) -> Tensor:
    """Return the eigenvectors of the lowest eigenvalues, in columns; what lies at 1 and above is no low frequency."""
    values, vectors = np.linalg.eigh(laplacian)
    return torch.from_numpy(vectors[:, : min(count, int((values < 1 - 1e-6).sum()))].copy())


def hypergraph_basis(incidence: np.ndarray, count: int) -> Tensor:
    """Return the lowest frequencies of I - D_v^(-1/2) H D_e^(-1) H^T D_v^(-1/2)."""
    vertex, edge = incidence.sum(1).clip(1), incidence.sum(0).clip(1)
    root = np.diag(vertex**-0.5)
    return low_frequencies(np.eye(len(vertex)) - root @ incidence @ np.diag(1 / edge) @ incidence.T @ root, count)


def filtered(basis: Tensor, kernel: Tensor, table: Tensor) -> Tensor:
    return basis @ torch.diag(kernel[: basis.shape[1]]) @ basis.T @ table


def both_tables(p: Model) -> Tensor:
    return torch.cat([p["user.weight"], p["item.weight"]])


def of_mf(client: ClientPairs, model: ModelSettings) -> Vectors:
    return both_tables


def of_lightgcn(client: ClientPairs, model: ModelSettings) -> Vectors:
    adjacency = dense_adjacency(client)
    return lambda p: lightgcn(p, adjacency, model.layers)


def of_ngcf(client: ClientPairs, model: ModelSettings) -> Vectors:
    adjacency = dense_adjacency(client)
    return lambda p: ngcf(p, adjacency, model.layers)


def of_lgcn(client: ClientPairs, model: ModelSettings) -> Vectors:
    adjacency = dense_adjacency(client).numpy()
    basis = low_frequencies(np.eye(len(adjacency)) - adjacency, model.embedding.frequencies)

    def vectors(p: Model) -> Tensor:
        z = total = both_tables(p)
        for layer in range(1, model.layers + 1):
            z = filtered(basis, p[f"kernel{layer}.weight"], z)
            total = total + z / (layer + 1)
        return total

    return vectors


def of_pinsage(client: ClientPairs, model: ModelSettings) -> Vectors:
    own, taken = model.embedding.pinsage, client.taken
    random = seeds.generator("pinsage", *taken.shape, taken.nnz)
    alpha = torch.from_numpy(important_neighbours(taken, own.walks, own.steps, own.neighbours, random).toarray())

    def vectors(p: Model) -> Tensor:
        h = both_tables(p)
        for layer in range(1, model.layers + 1):
            near = alpha.to(h) @ torch.relu(h @ p[f"layer{layer}.near.weight"] + p[f"layer{layer}.near.bias"])
            of_self, of_near = p[f"layer{layer}.both.weight"].split([h.shape[1], near.shape[1]])
            h = torch.relu(h @ of_self + near @ of_near + p[f"layer{layer}.both.bias"])
            h = h / h.norm(dim=1, keepdim=True).clamp(min=1e-12)
        if not own.head:
            return h
        return torch.relu(h @ p["head.first.weight"] + p["head.first.bias"]) @ p["head.second.weight"]

    return vectors


def of_lcfn(client: ClientPairs, model: ModelSettings) -> Vectors:
    taken, own = client.taken.toarray().astype(float), model.embedding.lcfn
    bases = {"users": hypergraph_basis(taken, own.users), "items": hypergraph_basis(taken.T, own.items)}

    def side(p: Model, name: str, x: Tensor) -> Tensor:
        layers = [x]
        for layer in range(1, model.layers + 1):
            z = filtered(bases[name], p[f"layer{layer}.{name}.weight"], layers[-1])
            layers.append(torch.sigmoid(z @ p[f"layer{layer}.both.weight"]))
        return torch.cat(layers, dim=1)

    return lambda p: torch.cat([side(p, "users", p["user.weight"]), side(p, "items", p["item.weight"])])


VECTORS: dict[str, Callable[[ClientPairs, ModelSettings], Vectors]] = {
    "mf": of_mf,
    "lightgcn": of_lightgcn,
    "ngcf": of_ngcf,
    "lgcn": of_lgcn,
    "pinsage": of_pinsage,
    "lcfn": of_lcfn,
}
