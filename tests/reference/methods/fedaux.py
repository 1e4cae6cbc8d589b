"""FedAux: masks, a kernel average before the readout, and averages by the similarity of projection vectors."""

from __future__ import annotations

from torch import Tensor, nn

from tests.reference.networks import Masked, PlainFedAux, PlainHardSort
from tests.reference.plans import Plan, Settings, Shape, everything, masked, softmax_of_cosines


def plan(settings: Settings, shape: Shape) -> Plan:
    def make(own: Shape) -> nn.Module:
        size = (shape["features"], shape["classes"], shape["layers"])
        if settings.hard_sort:
            size_of_kernel = settings.hard_kernel_size
            return masked(shape, PlainHardSort(*size, width=shape["width"], score=settings.score, size=size_of_kernel))
        return masked(shape, PlainFedAux(*size, shape["width"], settings.sigma, settings.score, shape["backbone"]))

    def shared(name: str) -> bool:
        return everything(name) and (settings.mix_classifier or "readout" not in name)

    def combine(modules: list[nn.Module]) -> Tensor:
        return softmax_of_cosines([apv_of(m).detach() for m in modules], settings.alpha)

    def renormalise(module: nn.Module) -> None:
        apv_of(module).data /= apv_of(module).data.norm()

    return Plan(make, shared, combine, constrain=renormalise if settings.renormalise_apv else lambda module: None)


def apv_of(module: nn.Module) -> Tensor:
    inner = module.inner if isinstance(module, Masked) else module
    return inner.apv
