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
    linear = re.fullmatch(r"convs\.(\d+)\.nn\.([02])\.(weight|bias)", name)
    if linear:
        return f"conv{int(linear.group(1)) + 1}.{ {'0': 'first', '2': 'second'}[linear.group(2)] }.{linear.group(3)}"
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
    """Set every parameter of ``module`` to the suite's initial value; all matrices but the classifier's are transposed.

    A module with names of its own says what they are in the suite: its method ``suite_name``.
    """
    named = getattr(module, "suite_name", suite_name)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            value = initial[named(name)]
            transposed = value.dim() == 2 and not named(name).startswith("classifier")
            parameter.copy_(value.T if transposed else value)
