"""Spectral filters that are learnt per graph (Specformer, Bo et al., ICLR 2023), as FedSSP's released model has them.

Eigenvalues of L = D - A -> encodings [lambda, sin, cos(100 lambda 10000^(-2i/d))] -> linear ->
    h <- h + MHA(LN(h)); h <- h + MLP(LN(h)) inside each graph -> linear: as many new spectra s_m as there are heads.
Bases I and U diag(s_m) U', read at the edges -> MLP with batch norm and GELU -> softmax over the edges into each node.
At an edge the entry of I is 0, so its row of the MLP's first weight never acts.
Nothing is N x N: the entry (a, b) of a filter is the row of U[a, f] U[b, f] times s_m, and that of (b, a) too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import gelu, layer_norm

from fedbench.kernels.dropout import DropoutStream
from fedbench.kernels.edges import edge_softmax
from fedbench.kernels.self_attention import attend
from fedbench.models.linear_maps import linear_parameters
from fedbench.models.normalisation import BatchNorms, batch_norm_parameters
from fedbench.models.parameters import Initial, Parameter, Parameters, fan_in_uniform, glorot, ones, zeros

SHARED = "encoder."
"""What FedSSP shares has names that start so."""
_ATTENTION, _AFTER_ATTENTION, _AFTER_MLP, _EDGES = range(1, 5)
DROPPED_HERE = 4
"""Places in which the filters have dropout; a network's own are numbered from the next."""


@dataclass(frozen=True)
class Pass:
    """A forward pass: parameters, a `fedbench.tasks.graph.spectra.SpectralBatch`, dropout, batch norms."""

    parameters: Parameters
    block: Any
    dropout: DropoutStream | None
    norms: BatchNorms

    def linear(self, name: str, x: Tensor) -> Tensor:
        """Return x W + b, x [clients, rows, in]."""
        return torch.baddbmm(self.parameters[f"{name}.bias"].unsqueeze(1), x, self.parameters[f"{name}.weight"])

    def layer_norm(self, name: str, x: Tensor) -> Tensor:
        """Return x normalised row by row (Ba et al. 2016)."""
        scale, shift = (self.parameters[f"{name}.{kind}"].unsqueeze(1) for kind in ("weight", "bias"))
        return torch.addcmul(shift, layer_norm(x, x.shape[-1:]), scale)

    def plus_dropped(self, x: Tensor, place: int, h: Tensor) -> Tensor:
        """Return x + dropout(h), each [clients, slots, width]."""
        keep = self.dropout.keep(place, h.shape[2]) if self.dropout else None
        if keep is None or self.dropout is None:
            return x + h
        return torch.addcmul(x, h, keep.to(h.dtype).mul_(self.dropout.scale))

    def factors(self, place: int, sizes: Sequence[int], width: int, dtype: torch.dtype) -> Tensor | None:
        """Return dropout's factors of the clients' rows, one client after another [sum of sizes, width], or None."""
        if self.dropout is None:
            return None
        keep = replace(self.dropout, sizes=sizes, slots=max(sizes)).keep(place, width)
        if keep is None:
            return None
        own = torch.cat([mask[:size] for mask, size in zip(keep, sizes, strict=True)])
        return own.to(dtype).mul_(self.dropout.scale)


@dataclass(frozen=True)
class SpectralFilters:
    """From graphs' spectra to weights of edges.

    Args:
        width: d, even and a multiple of ``heads``.
        heads: of the attention, and new spectra.
    """

    width: int
    heads: int

    def parameters(self) -> dict[str, Parameter]:
        """Declare what FedSSP shares, ``encoder.*``, and ``attention.*``, ``mlp.*``, ``spectra``; torch's starts."""
        width = self.width
        declared = linear_parameters("encoder.eigenvalues", width + 1, width)
        declared |= linear_parameters("encoder.first", self.heads + 1, width)
        declared |= linear_parameters("encoder.second", width, width)
        declared |= batch_norm_parameters("encoder.first_norm", width)
        declared |= batch_norm_parameters("encoder.second_norm", width)
        declared |= _layer_norm("attention.norm", width) | _layer_norm("mlp.norm", width)
        declared |= _map("attention.in", (width, 3 * width), glorot)
        declared |= _map("attention.out", (width, width), fan_in_uniform(width))
        declared |= linear_parameters("mlp.first", width, width) | linear_parameters("mlp.second", width, width)
        return declared | linear_parameters("spectra", width, self.heads)

    def weights(self, run: Pass) -> Tensor:
        """Return the weights of all edges, channel by channel, [edges, width]; they sum to 1 over those into a node."""
        h = run.linear("encoder.eigenvalues", run.block.codes)
        mixed = run.linear("attention.in", run.layer_norm("attention.norm", h))
        keep = run.factors(_ATTENTION, run.block.sequences.weights, self.heads, h.dtype)
        seen = attend(mixed.flatten(0, 1), run.block.sequences, self.heads, keep).view_as(h)
        h = run.plus_dropped(h, _AFTER_ATTENTION, run.linear("attention.out", seen))
        inner = gelu(run.linear("mlp.first", run.layer_norm("mlp.norm", h)))
        h = run.plus_dropped(h, _AFTER_MLP, run.linear("mlp.second", inner))
        return self._at_edges(run, run.linear("spectra", h))

    def _at_edges(self, run: Pass, spectra: Tensor) -> Tensor:
        bases = (run.block.products @ spectra.flatten(0, 1)).view(len(spectra), -1, self.heads)
        weight, bias = run.parameters["encoder.first.weight"][:, 1:], run.parameters["encoder.first.bias"]
        z, sizes = torch.baddbmm(bias.unsqueeze(1), bases, weight), run.block.pair_sizes
        z = run.linear("encoder.second", gelu(run.norms("encoder.first_norm", z, sizes, copies=2)))
        z = run.block.both @ gelu(run.norms("encoder.second_norm", z, sizes, copies=2)).flatten(0, 1)
        factors = run.factors(_EDGES, run.block.edge_sizes, self.width, z.dtype)
        return edge_softmax(run.block.edges, z if factors is None else z * factors)


def encoded(eigenvalues: Tensor, width: int) -> Tensor:
    """Return [lambda, sin, cos(100 lambda 10000^(-2i/width)), i = 0 .. width/2 - 1], [n, width + 1].

    As precise as ``eigenvalues`` [n]: sines of large angles need double precision.
    """
    steps = torch.arange(0, width, 2, dtype=eigenvalues.dtype, device=eigenvalues.device)
    angles = 100 * eigenvalues.unsqueeze(1) * 10000.0 ** (-steps / width)
    return torch.cat([eigenvalues.unsqueeze(1), angles.sin(), angles.cos()], dim=1)


def _map(name: str, shape: tuple[int, int], start: Initial) -> dict[str, Parameter]:
    """Declare a linear map whose bias starts at 0."""
    return {f"{name}.weight": Parameter(shape, start), f"{name}.bias": Parameter(shape[1:], zeros)}


def _layer_norm(name: str, width: int) -> dict[str, Parameter]:
    return {f"{name}.weight": Parameter((width,), ones), f"{name}.bias": Parameter((width,), zeros)}
