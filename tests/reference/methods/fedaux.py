"""FedAux: masks, a kernel average before the readout, and averages by the similarity of projection vectors."""

from __future__ import annotations

from torch import Tensor, nn

from tests.reference.networks import Masked, PlainFedAux
from tests.reference.plans import Plan, Settings, Shape, no_masks, softmax_of_cosines


def plan(settings: Settings, shape: Shape) -> Plan:
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
