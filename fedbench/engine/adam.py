"""Adam over stacked parameters in which each client keeps its own count of steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.optim.adam import adam


@dataclass(frozen=True)
class AdamSettings:
    """Adam's constants (Kingma & Ba 2015); weight decay is added to the gradient, as in torch's Adam."""

    learning_rate: float
    weight_decay: float
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8


class StackedAdam:
    """Steps stacks [packed clients, ...]; since Adam is elementwise, every client's step is exactly its own.

    Clients that are not active in a step keep parameters, moments and step count untouched.

    Args:
        parameters: name to stack; modified in place by `step`.
        settings: Adam's constants.
    """

    def __init__(self, parameters: Mapping[str, Tensor], settings: AdamSettings) -> None:
        self.parameters = list(parameters.values())
        self.settings = settings
        self.reset()

    def reset(self) -> None:
        """Forget all moments and step counts."""
        self.first = [torch.zeros_like(p) for p in self.parameters]
        self.second = [torch.zeros_like(p) for p in self.parameters]
        self.steps = [0] * (len(self.parameters[0]) if self.parameters else 0)

    def step(self, gradients: list[Tensor], active: list[bool]) -> None:
        """Step the active clients; ``gradients`` has one stack a parameter."""
        if all(active) and len(set(self.steps)) <= 1:
            self._update(slice(None), gradients, self.steps[0] if self.steps else 0)
        else:
            for client in (c for c, is_active in enumerate(active) if is_active):
                self._update(client, gradients, self.steps[client])
        self.steps = [count + is_active for count, is_active in zip(self.steps, active, strict=True)]

    def _update(self, part: slice | int, gradients: list[Tensor], steps: int) -> None:
        constants = self.settings
        adam(
            [p[part] for p in self.parameters],
            [g[part] for g in gradients],
            [m[part] for m in self.first],
            [v[part] for v in self.second],
            [],
            [torch.tensor(float(steps), device=p.device) for p in self.parameters],
            fused=True,
            amsgrad=False,
            beta1=constants.beta1,
            beta2=constants.beta2,
            lr=constants.learning_rate,
            weight_decay=constants.weight_decay,
            eps=constants.epsilon,
            maximize=False,
        )
