"""Copies the suite's named initial weights into a plain module: names and layouts differ."""

from __future__ import annotations

import re
from collections.abc import Mapping

import torch
from torch import Tensor, nn


def suite_name(plain: str) -> str:
    """Return the suite's name of a plain module's parameter."""
    name = plain.removeprefix("inner.")
    mask = re.fullmatch(r"masks\.(.+)", name)
    if mask:
        plain_name = mask.group(1).replace("_", ".").replace("lin.l", "lin_l").replace("lin.r", "lin_r")
        return suite_name(plain_name).replace(".weight", ".mask")
    conv = re.fullmatch(r"convs\.(\d+)\.(?:lin\.|lin_l\.)?(weight|bias)", name)
    if conv:
        return f"conv{int(conv.group(1)) + 1}.{conv.group(2)}"
    root = re.fullmatch(r"convs\.(\d+)\.lin_r\.weight", name)
    if root:
        return f"conv{int(root.group(1)) + 1}.root.weight"
    if name.startswith("line."):
        return name.replace("line.", "sorted.")
    return re.sub(r"readout\.(lin\.)?", "classifier.", name)


def start_from(module: nn.Module, initial: Mapping[str, Tensor]) -> None:
    """Set every parameter of ``module`` to the suite's initial value; convolutions' weights are transposed."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            value = initial[suite_name(name)]
            transposed = suite_name(name).startswith(("conv", "sorted")) and value.dim() == 2
            parameter.copy_(value.T if transposed else value)
