"""Each method of the suite as a plain plan, written from its formulas with loops and lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from tests.reference.federation import Plan, State
from tests.reference.networks import Masked, PlainFedAux, PlainGCN

Shape = dict[str, Any]
"""features, classes, layers, width, readout, seed."""


class Majority(nn.Module):
    """Knows the counts of the training classes of the graph it is asked about."""

    def forward(self, x: Tensor, edges: Tensor, keep: object = None, scale: float = 1.0) -> Tensor:
        return self.counts.expand(len(x), -1)


def everything(name: str) -> bool:
    return True


def nothing(name: str) -> bool:
    return False


def no_masks(name: str) -> bool:
    return not name.startswith("masks.")


def average(modules: list[nn.Module]) -> Tensor:
    return torch.full((len(modules), len(modules)), 1.0 / len(modules), dtype=torch.float64)


def softmax_of_cosines(vectors: list[Tensor], scale: float) -> Tensor:
    weights = torch.zeros(len(vectors), len(vectors), dtype=torch.float64)
    for k, a in enumerate(vectors):
        similar = [torch.exp(scale * torch.dot(a, b) / (a.norm() * b.norm())) for b in vectors]
        weights[k] = torch.stack(similar) / sum(similar)
    return weights


def plain(shape: Shape) -> PlainGCN:
    return PlainGCN(shape["features"], shape["classes"], shape["layers"], shape["width"], shape["readout"])


def fedprox(settings: Any, shape: Shape) -> Plan:
    def penalty(module: nn.Module, received: State, round: int) -> Tensor:
        own = dict(module.named_parameters())
        return settings.mu / 2 * sum(((own[n] - received[n]) ** 2).sum() for n in received)

    return Plan(lambda: plain(shape), everything, average, penalty)


def self_weight(settings: Any, shape: Shape) -> Plan:
    def combine(modules: list[nn.Module]) -> Tensor:
        k = len(modules)
        own = torch.eye(k, dtype=torch.float64)
        return settings.self_weight * own + (1 - settings.self_weight) / (k - 1) * (1 - own)

    return Plan(lambda: plain(shape), everything, combine)


def fedpub(settings: Any, shape: Shape) -> Plan:
    proxy_x, proxy_edges = shape["proxy"]

    def embedding(module: Masked) -> Tensor:
        module.eval()
        inner, weights = module.inner, module.weights()
        x = proxy_x
        with torch.no_grad():
            for i in range(len(inner.convs)):
                own = {n.removeprefix(f"convs.{i}."): w for n, w in weights.items() if n.startswith(f"convs.{i}.")}
                x = torch.func.functional_call(inner.convs[i], own, (torch.relu(x) if i else x, proxy_edges))
        return x.mean(0)

    def penalty(module: Masked, received: State, round: int) -> Tensor:
        own = dict(module.named_parameters())
        sparse = sum(mask.abs().sum() for mask in module.masks.values())
        near = sum(((own[n] - received[n]) ** 2).sum() for n in received)
        return (settings.l1 * sparse + settings.proximal * near) * (round > 1)

    def combine(modules: list[nn.Module]) -> Tensor:
        return softmax_of_cosines([embedding(m) for m in modules], settings.tau)

    acting = penalty if settings.penalties_act else None
    return Plan(lambda: Masked(plain(shape), settings.mask_threshold), no_masks, combine, acting)


def fedaux(settings: Any, shape: Shape) -> Plan:
    def make() -> Masked:
        inner = PlainFedAux(
            shape["features"], shape["classes"], shape["layers"], shape["width"], settings.sigma, settings.score
        )
        return Masked(inner)

    def shared(name: str) -> bool:
        return no_masks(name) and (settings.mix_classifier or "readout" not in name)

    def combine(modules: list[nn.Module]) -> Tensor:
        return softmax_of_cosines([m.inner.apv.detach() for m in modules], settings.alpha)

    return Plan(make, shared, combine)


PLANS: dict[str, Callable[[Any, Shape], Plan]] = {
    "local": lambda settings, shape: Plan(lambda: plain(shape), nothing),
    "centralised": lambda settings, shape: Plan(lambda: plain(shape), nothing),
    "majority": lambda settings, shape: Plan(Majority, nothing),
    "fedavg": lambda settings, shape: Plan(lambda: plain(shape), everything, average),
    "fedprox": fedprox,
    "fedper": lambda settings, shape: Plan(lambda: plain(shape), lambda name: "readout" not in name, average),
    "masked_fedavg": lambda settings, shape: Plan(
        lambda: Masked(plain(shape), settings.mask_threshold), no_masks, average
    ),
    "self_weight": self_weight,
    "fedpub": fedpub,
    "fedaux": fedaux,
}
