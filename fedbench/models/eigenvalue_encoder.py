"""A spectral filter that reads the graph's eigenvalues (Specformer, ICLR 2023; FedSSP, NeurIPS 2024).

    code(lambda) = [lambda | sin(s lambda w_i) | cos(s lambda w_i)],  w_i = 10000^(-2 i / e),  i < e / 2
    z = code W + b;  z <- z + attention(norm(z));  z <- z + MLP(norm(z));  k^(l) = (z D + c)_l

One filter value of each layer for each eigenvalue, which every client's own eigenvalues go through.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import gelu, layer_norm

from fedbench.models.parameters import Parameter, Parameters, fan_in_uniform, ones, zeros

PREFIX = "encoder."
CODE = "encoder.code."


@dataclass(frozen=True)
class EigenvalueEncoder:
    """Declares and computes the encoder; its parameters are ``encoder.<part>.weight`` [in, out] and ``.bias``.

    Args:
        width: e, even.
        heads: of the attention; they divide e.
        scale: s, eigenvalues are multiplied by it in the sines.
        layers: filters asked for.
    """

    width: int
    heads: int
    scale: float
    layers: int

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare linear maps (torch's default start) and two norms."""
        e, found = self.width, dict[str, Parameter]()
        shapes = dict.fromkeys(("query", "key", "value", "joined", "first", "second"), (e, e))
        for part, (wide, narrow) in {"code": (e + 1, e), **shapes, "decoder": (e, self.layers)}.items():
            start = fan_in_uniform(wide)
            found[f"{PREFIX}{part}.weight"] = Parameter((wide, narrow), start)
            found[f"{PREFIX}{part}.bias"] = Parameter((narrow,), start)
        for norm in ("norm1", "norm2"):
            found |= {f"{PREFIX}{norm}.weight": Parameter((e,), ones), f"{PREFIX}{norm}.bias": Parameter((e,), zeros)}
        return found

    def kernels(self, parameters: Parameters, frequencies: Tensor, present: Tensor) -> Tensor:
        """Return the filters k^(l), [clients, frequencies, layers].

        Args:
            parameters: the clients' own, [clients, ...].
            frequencies: eigenvalues, [clients, frequencies].
            present: bool like these; false where a client has fewer. Nothing attends to those.
        """
        z = _linear(parameters, "code", self.code(frequencies))
        z = z + self._attention(parameters, _normed(parameters, "norm1", z), present)
        hidden = gelu(_linear(parameters, "first", _normed(parameters, "norm2", z)))
        return _linear(parameters, "decoder", z + _linear(parameters, "second", hidden))

    def code(self, frequencies: Tensor) -> Tensor:
        """Return the sinusoidal code, [clients, frequencies, e + 1]."""
        place = torch.arange(0, self.width, 2, dtype=frequencies.dtype, device=frequencies.device)
        turns = (self.scale * frequencies).unsqueeze(2) * torch.exp(place * (-math.log(10_000) / self.width))
        return torch.cat([frequencies.unsqueeze(2), torch.sin(turns), torch.cos(turns)], dim=2)

    def _attention(self, parameters: Parameters, z: Tensor, present: Tensor) -> Tensor:
        query, key, value = (self._by_head(_linear(parameters, part, z)) for part in ("query", "key", "value"))
        logits = query @ key.mT / math.sqrt(self.width / self.heads)
        logits = logits.masked_fill(~present[:, None, None, :], torch.finfo(z.dtype).min / 2)
        mixed = torch.softmax(logits, dim=3) @ value
        return _linear(parameters, "joined", mixed.transpose(1, 2).flatten(2))

    def _by_head(self, z: Tensor) -> Tensor:
        """Return [clients, heads, frequencies, e / heads]."""
        return z.unflatten(2, (self.heads, -1)).transpose(1, 2)


def _linear(parameters: Parameters, part: str, x: Tensor) -> Tensor:
    return x @ parameters[f"{PREFIX}{part}.weight"] + parameters[f"{PREFIX}{part}.bias"].unsqueeze(1)


def _normed(parameters: Parameters, part: str, x: Tensor) -> Tensor:
    weight, bias = parameters[f"{PREFIX}{part}.weight"], parameters[f"{PREFIX}{part}.bias"]
    return layer_norm(x, x.shape[2:]) * weight.unsqueeze(1) + bias.unsqueeze(1)
