"""Find theorems by name and measure them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType

import fedbench.theorems
from fedbench.errors import ConfigurationError, nearest
from fedbench.theorems._row import Row


@dataclass(frozen=True)
class Measured:
    """A theorem's name in its paper, what it says, and its rows."""

    theorem: str
    says: str
    rows: tuple[Row, ...]


def theorem_names() -> list[str]:
    """Return the names of all theorems, as the command line takes them."""
    modules = pkgutil.iter_modules(fedbench.theorems.__path__)
    return sorted(module.name.replace("_", "-") for module in modules if not module.name.startswith("_"))


def theorem_named(name: str) -> ModuleType:
    """Return a theorem's module.

    Raises:
        ConfigurationError: there is no such theorem.
    """
    known = theorem_names()
    if name.replace("_", "-") not in known:
        raise ConfigurationError(
            f"measure the theorem '{name}'",
            found=f"no such theorem{nearest(name, known)}",
            allowed=", ".join(known),
            remedy="correct the name, or add a module to fedbench/theorems",
        )
    return importlib.import_module(f"fedbench.theorems.{name.replace('-', '_')}")


def measure_theorems(names: Sequence[str] = ()) -> Iterator[Measured]:
    """Measure the named theorems, or all.

    Raises:
        ConfigurationError: a name is unknown (before anything is measured).
    """
    for module in [theorem_named(name) for name in names or theorem_names()]:
        yield Measured(module.THEOREM, module.SAYS, tuple(module.measure()))


def plots_of(names: Sequence[str] = ()) -> Iterator[tuple[str, ModuleType]]:
    """Yield the named theorems (or all) that have a plot: ``curves()``, and ``AXES``, both axes' names."""
    for name in names or theorem_names():
        module = theorem_named(name)
        if hasattr(module, "curves"):
            yield name.replace("_", "-"), module
