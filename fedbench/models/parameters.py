"""Declared parameters and their initial values, drawn per (seed, parameter) from named streams."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from fedbench import seeds as streams

Initial = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]
Parameters = Mapping[str, Tensor]
"""Name to a stack [..., *shape]; the leading axes are (seed, client), or their product where a network computes."""


@dataclass(frozen=True)
class Parameter:
    """One trainable tensor of a client's network: its shape for one client, and how it starts.

    ``private``: never leaves the client, whatever the method shares (the ends of a network whose widths are the
    client's own). ``by_row``: a private table whose rows are things that several clients may have (items); these leave
    row by row: a client's block names them (``rows``), and the server averages each over the clients that have it.
    """

    shape: tuple[int, ...]
    initial: Initial
    private: bool = False
    by_row: bool = False


def draw(declared: Mapping[str, Parameter], seed: int) -> dict[str, np.ndarray]:
    """Return the initial value of every parameter (float64).

    A parameter's stream is named by seed and parameter name, so two methods that share a layer start it alike.
    """
    return {
        name: parameter.initial(streams.generator("weights", seed, name), parameter.shape)
        for name, parameter in declared.items()
    }


def fill(target: Tensor, value: Tensor) -> None:
    """Put a value into the corner of a tensor that may be larger along any axis, in place; the rest becomes 0."""
    target.zero_()
    target[tuple(slice(length) for length in value.shape)] = value.to(target)


def glorot(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Uniform in +-sqrt(6 / (in + out)) for a [in, out] matrix (Glorot & Bengio 2010; PyG's and FED-PUB's default)."""
    bound = np.sqrt(6.0 / (shape[0] + shape[1]))
    return random.uniform(-bound, bound, shape)


def glorot_bias(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Glorot's rule for a bias seen as a [1, out] matrix: FED-PUB's masked linear layer starts so."""
    bound = np.sqrt(6.0 / (1 + shape[0]))
    return random.uniform(-bound, bound, shape)


def fan_in_uniform(fan_in: int) -> Initial:
    """Uniform in +-1/sqrt(fan_in): torch's default for a linear layer's weight and bias."""
    bound = 1.0 / np.sqrt(fan_in)
    return lambda random, shape: random.uniform(-bound, bound, shape)


def zeros(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """All zero."""
    return np.zeros(shape)


def ones(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """All one."""
    return np.ones(shape)


def normal(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Standard normal."""
    return random.standard_normal(shape)


def uniform(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Uniform in [0, 1)."""
    return random.random(shape)
