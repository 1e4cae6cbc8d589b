"""Heads: what the readout sees of the last hidden representation h.

FedAux (section 3) puts a second representation z beside h. Nodes get scores s_i along an auxiliary projection vector
(APV), and z gathers the nodes with near scores: by a Gaussian kernel, or, in its ablation, by a hard sort and a
one-dimensional convolution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import torch
from torch import Tensor

from fedbench.kernels.gaussian import kernel_average
from fedbench.models.masks import masked
from fedbench.models.network import GraphBlock
from fedbench.models.parameters import Parameter, Parameters, fan_in_uniform, normal, uniform

Score = Literal["inner_product", "cosine"]
Start = Literal["normal", "uniform"]


class Head(Protocol):
    """A head; ``parts`` is how many representations of h's width the readout sees."""

    @property
    def parts(self) -> int:
        """Number of representations."""

    def parameters(self, width: int) -> dict[str, Parameter]:
        """Declare the head's own parameters."""

    def seen(self, parameters: Parameters, block: GraphBlock, h: Tensor) -> list[Tensor]:
        """Return the representations, each [clients, slots, width]."""


@dataclass(frozen=True)
class PlainHead:
    """The readout sees h."""

    parts: int = 1

    def parameters(self, width: int) -> dict[str, Parameter]:
        """Declare nothing."""
        return {}

    def seen(self, parameters: Parameters, block: GraphBlock, h: Tensor) -> list[Tensor]:
        """Return h."""
        return [h]


@dataclass(frozen=True)
class KernelHead:
    """The readout sees [h || z], z_i = sum_j kappa(s_i, s_j) h_j / sum_j kappa(s_i, s_j) (FedAux, section 3).

    kappa(s, t) = exp(-(s - t)^2 / sigma^2).

    Args:
        sigma: kernel width.
        score: paper: s_i = <h_i / max_j ||h_j||, a>; released code: cos(h_i, a).
        apv_start: paper: N(0, I); the released models that can run start the APV uniformly in [0, 1).
    """

    sigma: float = 1.0
    score: Score = "inner_product"
    apv_start: Start = "normal"
    parts: int = 2

    def parameters(self, width: int) -> dict[str, Parameter]:
        """Declare ``apv`` [width]."""
        return {"apv": Parameter((width,), _STARTS[self.apv_start])}

    def seen(self, parameters: Parameters, block: GraphBlock, h: Tensor) -> list[Tensor]:
        """Return h and z."""
        scores = _SCORES[self.score](h, parameters["apv"], block.present)
        return [h, kernel_average(scores, h, block.present, self.sigma, 1.0 if self.score == "cosine" else None)]


@dataclass(frozen=True)
class HardSortHead:
    """The readout sees [h || z], z a one-dimensional convolution over the nodes in the order of their scores.

    FedAux's ablation (i), table 6. A sort has no gradient, so the APV never learns. Ties keep the nodes' order; the
    sequence is padded with zeros. The paper doesn't give the kernel size B.

    Args:
        kernel_size: B, odd.
        score: as in `KernelHead`.
        apv_start: as in `KernelHead`.
    """

    kernel_size: int
    score: Score = "inner_product"
    apv_start: Start = "normal"
    parts: int = 2

    def parameters(self, width: int) -> dict[str, Parameter]:
        """Declare ``apv`` [width], ``sorted.weight`` [B * width, width] and ``sorted.bias``; torch's default start."""
        start = fan_in_uniform(self.kernel_size * width)
        return {
            "apv": Parameter((width,), _STARTS[self.apv_start]),
            "sorted.weight": Parameter((self.kernel_size * width, width), start),
            "sorted.bias": Parameter((width,), start),
        }

    def seen(self, parameters: Parameters, block: GraphBlock, h: Tensor) -> list[Tensor]:
        """Return h and the convolution, put back into the nodes' order."""
        scores = _SCORES[self.score](h, parameters["apv"], block.present).detach()
        order = scores.masked_fill(block.present == 0, float("inf")).argsort(dim=1, stable=True)
        there = block.present.gather(1, order).unsqueeze(2)
        line = torch.nn.functional.pad(_rows(h, order) * there, (0, 0, self.kernel_size // 2, self.kernel_size // 2))
        windows = line.unfold(1, self.kernel_size, 1).transpose(2, 3).flatten(2)
        z = windows @ masked(parameters, "sorted") + parameters["sorted.bias"].unsqueeze(1)
        return [h, _rows(z * there, order.argsort(dim=1))]


def _rows(x: Tensor, order: Tensor) -> Tensor:
    return x.gather(1, order.unsqueeze(2).expand_as(x))


def _inner_product(h: Tensor, apv: Tensor, present: Tensor) -> Tensor:
    """Return <h_i / max_j ||h_j||, a>; padding scores 0."""
    largest = (h.norm(dim=2) * present).amax(dim=1, keepdim=True)
    return _along(h, apv) / largest.clamp_min(torch.finfo(h.dtype).tiny) * present


def _cosine(h: Tensor, apv: Tensor, present: Tensor) -> Tensor:
    """Return cos(h_i, a), 0 for padding and for a node whose representation is 0."""
    lengths = h.norm(dim=2) * apv.norm(dim=1, keepdim=True)
    return _along(h, apv) / lengths.clamp_min(torch.finfo(h.dtype).tiny) * present


def _along(h: Tensor, apv: Tensor) -> Tensor:
    return (h * apv.unsqueeze(1)).sum(2)


_SCORES = {"inner_product": _inner_product, "cosine": _cosine}
_STARTS = {"normal": normal, "uniform": uniform}
