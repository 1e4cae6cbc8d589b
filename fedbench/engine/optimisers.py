"""Optimisers over stacked parameters, in which each client takes its own steps.

All are elementwise, so one step over a stack is exactly every client's own step. Clients that are not active in a
step keep parameters and state untouched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor


class Optimiser(Protocol):
    """Steps stacks [packed clients, ...] in place."""

    def reset(self) -> None:
        """Forget all state."""

    def state(self) -> dict[str, Tensor]:
        """Return all state, for a checkpoint."""

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Take the state of a checkpoint."""

    def step(self, gradients: Mapping[str, Tensor], active: list[bool]) -> None:
        """Step the active clients along ``gradients``, name to stack; parameters without one stay."""


@dataclass(frozen=True)
class AdamSettings:
    """Adam's constants (Kingma & Ba 2015); weight decay is added to the gradient, as in torch's Adam."""

    learning_rate: float
    weight_decay: float
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8


class StackedAdam:
    """Adam in which each client keeps its own count of steps.

    Args:
        parameters: name to stack; modified in place by `step`.
        settings: Adam's constants.
    """

    def __init__(self, parameters: Mapping[str, Tensor], settings: AdamSettings) -> None:
        self.parameters = dict(parameters)
        self.settings = settings
        self.reset()

    def reset(self) -> None:
        """Forget all moments and step counts."""
        self.first = {name: torch.zeros_like(p) for name, p in self.parameters.items()}
        self.second = {name: torch.zeros_like(p) for name, p in self.parameters.items()}
        self.steps = [0] * len(next(iter(self.parameters.values()), ()))

    def state(self) -> dict[str, Tensor]:
        """Return moments and step counts."""
        moments = {"first": self.first, "second": self.second}
        named = {f"{moment}/{name}": stack for moment, stacks in moments.items() for name, stack in stacks.items()}
        return {"steps": torch.tensor(self.steps, dtype=torch.int64), **named}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Take the moments and step counts of a checkpoint."""
        self.steps = state["steps"].tolist()
        for name in self.parameters:
            self.first[name].copy_(state[f"first/{name}"])
            self.second[name].copy_(state[f"second/{name}"])

    def step(self, gradients: Mapping[str, Tensor], active: list[bool]) -> None:
        """Step the active clients along ``gradients``, name to stack; parameters without one stay."""
        if all(active) and len(set(self.steps)) <= 1:
            self._update(None, gradients, self.steps[0] if self.steps else 0)
        else:
            for client in (c for c, is_active in enumerate(active) if is_active):
                self._update(client, gradients, self.steps[client])
        self.steps = [count + is_active for count, is_active in zip(self.steps, active, strict=True)]

    def _update(self, client: int | None, gradients: Mapping[str, Tensor], steps: int) -> None:
        """Take step number ``steps`` + 1 of one client, or of all."""

        def chosen(stacks: Mapping[str, Tensor]) -> list[Tensor]:
            return [stacks[name] if client is None else stacks[name][client] for name in gradients]

        constants = self.settings
        count = torch.tensor(float(steps + 1), device=next(iter(self.first.values())).device)
        torch._fused_adam_(  # what torch.optim's adam calls, after as long again spent on sorting its arguments
            chosen(self.parameters),
            chosen(gradients),
            chosen(self.first),
            chosen(self.second),
            [],
            [count] * len(gradients),
            amsgrad=False,
            beta1=constants.beta1,
            beta2=constants.beta2,
            lr=constants.learning_rate,
            weight_decay=constants.weight_decay,
            eps=constants.epsilon,
            maximize=False,
        )


class StackedSGD:
    """Gradient descent; weight decay is added to the gradient.

    Args:
        parameters: name to stack; modified in place by `step`.
        learning_rate: step size.
        weight_decay: weight of the parameters in the step.
    """

    def __init__(self, parameters: Mapping[str, Tensor], learning_rate: float, weight_decay: float) -> None:
        self.parameters = dict(parameters)
        self.learning_rate, self.weight_decay = learning_rate, weight_decay

    def reset(self) -> None:
        """Do nothing: there is no state."""

    def state(self) -> dict[str, Tensor]:
        """Return nothing."""
        return {}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Do nothing."""

    def step(self, gradients: Mapping[str, Tensor], active: list[bool]) -> None:
        """Step the active clients along ``gradients``, name to stack; parameters without one stay."""
        chosen = slice(None) if all(active) else torch.tensor(active).nonzero().flatten()
        for name, gradient in gradients.items():
            parameter = self.parameters[name]
            parameter[chosen] -= self.learning_rate * (gradient[chosen] + self.weight_decay * parameter[chosen])


@dataclass(frozen=True)
class RMSpropSettings:
    """RMSprop's constants (torch's own defaults); weight decay is added to the gradient."""

    learning_rate: float
    weight_decay: float
    smoothing: float = 0.99
    epsilon: float = 1e-8


class StackedRMSprop:
    """RMSprop without momentum: v <- a v + (1 - a) g^2, then p <- p - rate g / (sqrt v + epsilon).

    Args:
        parameters: name to stack; modified in place by `step`.
        settings: RMSprop's constants.
    """

    def __init__(self, parameters: Mapping[str, Tensor], settings: RMSpropSettings) -> None:
        self.parameters = dict(parameters)
        self.settings = settings
        self.reset()

    def reset(self) -> None:
        """Forget all squares."""
        self.squares = {name: torch.zeros_like(p) for name, p in self.parameters.items()}

    def state(self) -> dict[str, Tensor]:
        """Return the squares' running means."""
        return self.squares

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Take the running means of a checkpoint."""
        for name, squares in self.squares.items():
            squares.copy_(state[name])

    def step(self, gradients: Mapping[str, Tensor], active: list[bool]) -> None:
        """Step the active clients along ``gradients``, name to stack; parameters without one stay."""
        parts = [slice(None)] if all(active) else [client for client, is_active in enumerate(active) if is_active]
        for part in parts:
            for name, gradient in gradients.items():
                self._update(self.parameters[name][part], gradient[part], self.squares[name][part])

    def _update(self, parameter: Tensor, gradient: Tensor, squares: Tensor) -> None:
        constants = self.settings
        decayed = gradient.add(parameter, alpha=constants.weight_decay)
        squares.mul_(constants.smoothing).addcmul_(decayed, decayed, value=1 - constants.smoothing)
        parameter.addcdiv_(decayed, squares.sqrt().add_(constants.epsilon), value=-constants.learning_rate)


def optimiser_of(kind: str, parameters: Mapping[str, Tensor], learning_rate: float, weight_decay: float) -> Optimiser:
    """Return the optimiser named in `TrainingSettings`."""
    kinds: dict[str, Callable[[], Optimiser]] = {
        "adam": lambda: StackedAdam(parameters, AdamSettings(learning_rate, weight_decay)),
        "rmsprop": lambda: StackedRMSprop(parameters, RMSpropSettings(learning_rate, weight_decay)),
        "sgd": lambda: StackedSGD(parameters, learning_rate, weight_decay),
    }
    return kinds[kind]()
