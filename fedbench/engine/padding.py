"""Clients of unlike widths in one pack: their private ends are padded to the widest client's with zeros.

Padded features are 0, and a class that a client hasn't has probability 0 (the task sees to both). So padded parameters
have no gradient, and stay 0 under any optimiser and weight decay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from fedbench.methods.base import Method
from fedbench.methods.exchange import Cell
from fedbench.models.network import Network
from fedbench.models.parameters import Parameter, draw, fill
from fedbench.tasks.task import Shape, Task


def pads(cell: Cell, task: Task) -> bool:
    """Tell whether clients are padded to one width: where widths differ, and all clients are to be one pack."""
    together = cell.device.type != "cpu" or len(cell.seeds) > 1
    return task.pads_widths and together and len(set(cell.shapes)) > 1


def padded_network(method: Method[Any], cell: Cell) -> Network:
    """Return the network of a client as wide as the widest, at both ends."""
    features, classes = (max(getattr(shape, end) for shape in cell.shapes) for end in ("features", "classes"))
    return method.network(replace(cell, shapes=(Shape(features, classes),) * cell.clients))


def padded_start(
    cell: Cell, declared: Mapping[str, Parameter], own: Sequence[Mapping[str, Parameter]]
) -> dict[str, Tensor]:
    """Return the stacks [S * K, ...] of initial parameters, in whose corners lie those that each client declares.

    Args:
        cell: seeds, precision, device.
        declared: what the padded network declares.
        own: what each client's own network declares.
    """
    drawn = [(place, draw(each, seed)) for place, (seed, each) in enumerate((s, o) for s in cell.seeds for o in own)]
    stacks = {}
    for name, parameter in declared.items():
        stacks[name] = torch.zeros(len(drawn), *parameter.shape, dtype=cell.dtype, device=cell.device)
        for place, values in drawn:
            fill(stacks[name][place], torch.from_numpy(values[name]))
    return stacks
