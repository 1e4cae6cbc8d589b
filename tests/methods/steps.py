"""A local step of one client, ready for a method's objective."""

from __future__ import annotations

from typing import Any

import torch

from fedbench.engine.cohort import start_cohort
from fedbench.engine.run import describe
from fedbench.methods.base import Method
from fedbench.methods.exchange import LocalStep
from fedbench.tasks.task import Place

DOUBLE = Place(torch.float64)


def step_of(method: Method[Any], problem: Any, client: int = 0, graphs: int = 4, number: int = 0) -> LocalStep:
    """Return a step on a client's first training graphs in round 2, the method's memory fresh."""
    cell = describe(problem, method, (0,), DOUBLE)
    data = method.prepare(problem, cell).data
    cohort = start_cohort(cell, method, problem, data)
    memory, pack = method.memory(cell, data, cohort.uploads()), cohort.packs[client]
    seen = method.seen(pack.block, pack.clients, memory)
    block = seen.batch([seen.train[0][:graphs]])
    dropout = cohort.dropout_stream(pack, block, 2, [number] * len(block.sizes))
    return LocalStep(pack.network, pack.parameters, block, dropout, pack.clients, memory, 2, 0)


def slope(method: Method[Any], step: LocalStep, name: str, size: float = 1e-6) -> tuple[float, float]:
    """Return the derivative of a step's loss along a fixed direction of a parameter: by autograd, by differences."""
    own = step.parameters[name]
    direction = torch.linspace(-1, 1, own.numel(), dtype=own.dtype).view_as(own)
    by_autograd = float((torch.autograd.grad(method.objective(step).sum(), own)[0] * direction).sum())
    losses = []
    for sign in (1, -1):
        with torch.no_grad():
            own.add_(sign * size * direction)
        losses.append(method.objective(step).sum().item())
        with torch.no_grad():
            own.sub_(sign * size * direction)
    return by_autograd, (losses[0] - losses[1]) / (2 * size)
