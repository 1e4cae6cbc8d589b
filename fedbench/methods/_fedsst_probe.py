"""FedSST's probe graph and what a client's first convolution tells about it: the structural signal S_st."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from fedbench import seeds as streams
from fedbench.models.parameters import Parameters
from fedbench.settings import Settings


class ProbeSettings(Settings):
    """The probe, a graph of two equal blocks (contextual stochastic block model), and which model it is put into.

    Its features are as wide as what they enter. The note: p = 128, which is FedSSP's width.
    """

    nodes: int = Field(20, ge=4, multiple_of=2, description="n (the note)")
    degree: float = Field(3.0, gt=0, description="expected degree (the note)")
    homophily: float = Field(0.75, ge=0, le=1, description="expected share of edges within a block (the note)")
    mu: float = Field(0.74, ge=0, description="strength of the blocks in the features (inferred)")
    seed: int = Field(0, ge=0, description="names the drawn graph (inferred)")
    no_isolated: bool = Field(True, description="draw until every node has a neighbour (inferred)")
    enters: Literal["hidden", "input"] = Field(
        "hidden",
        description="where the probe's features enter: before the first convolution (inferred from p = 128), or before "
        "the client's private input layer, with features of that layer's width",
    )
    model: Literal["local_previous", "local", "integrated_previous", "received"] = Field(
        "local_previous",
        description="which model is probed for a round: what the client trained in the round before (inferred), what "
        "it trains in this one, its fusion of the round before, or what it received for this round",
    )
    form: Literal["degree_quadratic", "trace"] = Field(
        "degree_quadratic", description="S_st = d' L d / (d' d + epsilon) (the note), or trace(H' L H)"
    )
    epsilon: float = Field(1e-8, ge=0, description="in S_st (inferred)")


@dataclass(frozen=True)
class Probe:
    """A drawn probe without its features.

    Attributes:
        around: A + I, [n, n].
        blocks: +-1, [n].
        inputs: every client's input width, for a probe that enters there.
        settings: the probe's.
    """

    around: Tensor
    blocks: Tensor
    inputs: tuple[int, ...]
    settings: ProbeSettings

    def features(self, width: int) -> Tensor:
        """Return x_i = sqrt(mu / n) y_i u + Z_i / sqrt(p) with u ~ N(0, I / p), Z_i ~ N(0, I), [n, width]."""
        random = streams.generator("fedsst probe features", self.settings.seed, width)
        u = random.standard_normal(width) / np.sqrt(width)
        z = random.standard_normal((len(self.blocks), width)) / np.sqrt(width)
        x = np.sqrt(self.settings.mu / len(self.blocks)) * self.blocks.cpu().numpy()[:, None] * u + z
        return torch.from_numpy(x).to(self.around)

    def signal(self, parameters: Parameters, clients: range) -> Tensor:
        """Return S_st of some clients, float64[S, k], from their first convolutions' parameters, name to [S, k, ...].

        All in double precision: the distances between clients are divided by their spread, however small.
        """
        doubled = {name: stack.double() for name, stack in parameters.items() if name.startswith(("input", "conv1."))}
        x = self._entering(doubled, clients)
        h = torch.relu(_linear(doubled, "conv1.second", torch.relu(_linear(doubled, "conv1.first", self.around @ x))))
        return FORMS[self.settings.form](torch.nn.functional.normalize(h, dim=-1), self.settings.epsilon)

    def _entering(self, parameters: Parameters, clients: range) -> Tensor:
        """Return what enters the first convolution, [n, width] or [k, n, width]."""
        if self.settings.enters == "hidden":
            return self.features(parameters["conv1.first.weight"].shape[-2])
        own = [self.features(self.inputs[client]) for client in clients]
        wide = parameters["input.weight"].shape[-2]
        padded = torch.stack([torch.nn.functional.pad(x, (0, wide - x.shape[1])) for x in own])
        return _linear(parameters, "input", padded)


def draw_probe(settings: ProbeSettings, device: torch.device, inputs: tuple[int, ...] = ()) -> Probe:
    """Draw the probe's edges: (n/2 - 1) p_in = homophily * degree, (n/2) p_out = (1 - homophily) * degree."""
    half = settings.nodes // 2
    blocks = np.repeat([1.0, -1.0], half)
    inside = settings.homophily * settings.degree / (half - 1)
    across = (1 - settings.homophily) * settings.degree / half
    chance = np.where(np.equal.outer(blocks, blocks), inside, across)
    random = streams.generator("fedsst probe edges", settings.seed)
    while True:
        upper = np.triu(random.random(chance.shape) < chance, k=1)
        edges = upper | upper.T
        if edges.any(axis=1).all() or not settings.no_isolated:
            break
    around = torch.from_numpy(edges + np.eye(len(blocks))).to(device)
    return Probe(around, torch.from_numpy(blocks).to(device), inputs, settings)


def degree_quadratic(h: Tensor, epsilon: float) -> Tensor:
    """Return (d' L d) / (d' d + epsilon), S = H H', d = S 1, L = diag(d) - S; ``h`` [..., n, width]."""
    similar = h @ h.transpose(-1, -2)
    degrees = similar.sum(-1)
    smooth = (degrees**3).sum(-1) - (degrees.unsqueeze(-2) @ similar @ degrees.unsqueeze(-1))[..., 0, 0]
    return smooth / (degrees.square().sum(-1) + epsilon)


def trace(h: Tensor, epsilon: float) -> Tensor:
    """Return trace(H' L H), L as in `degree_quadratic`."""
    similar = h @ h.transpose(-1, -2)
    return (similar.sum(-1) * h.square().sum(-1)).sum(-1) - similar.square().sum((-1, -2))


FORMS: dict[str, Callable[[Tensor, float], Tensor]] = {"degree_quadratic": degree_quadratic, "trace": trace}


def _linear(parameters: Parameters, name: str, x: Tensor) -> Tensor:
    return x @ parameters[f"{name}.weight"] + parameters[f"{name}.bias"].unsqueeze(-2)
