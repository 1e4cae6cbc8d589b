"""FED-PUB: masks, penalties, and averages by the similarity of mean outputs on a random graph."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tests.reference.federation import State
from tests.reference.networks import Masked
from tests.reference.plans import Plan, Settings, Shape, bare, everything, softmax_of_cosines


def plan(settings: Settings, shape: Shape) -> Plan:
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
    return Plan(lambda own: Masked(bare(own), settings.mask_threshold), everything, combine, acting)
