"""FedAux: masks, a kernel average before the readout, and averages by the similarity of projection vectors."""

from __future__ import annotations

from torch import Tensor, nn

from tests.reference.networks import Masked, PlainFedAux, PlainHardSort
from tests.reference.plans import Plan, Settings, Shape, no_masks, softmax_of_cosines


def plan(settings: Settings, shape: Shape) -> Plan:
    def make() -> Masked:
        size = (shape["features"], shape["classes"], shape["layers"])
        if settings.hard_sort:
            size_of_kernel = settings.hard_kernel_size
            return Masked(PlainHardSort(*size, width=shape["width"], score=settings.score, size=size_of_kernel))
        return Masked(PlainFedAux(*size, shape["width"], settings.sigma, settings.score, shape["backbone"]))

    def shared(name: str) -> bool:
        return no_masks(name) and (settings.mix_classifier or "readout" not in name)

    def combine(modules: list[nn.Module]) -> Tensor:
        return softmax_of_cosines([m.inner.apv.detach() for m in modules], settings.alpha)

    def renormalise(module: Masked) -> None:
        module.inner.apv.data /= module.inner.apv.data.norm()

    return Plan(make, shared, combine, constrain=renormalise if settings.renormalise_apv else lambda module: None)
