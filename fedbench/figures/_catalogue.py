"""Find a figure by name, draw it and write it."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import matplotlib as mpl

from fedbench.errors import ConfigurationError, nearest
from fedbench.figures import figure_names
from fedbench.figures._scene import Scene
from fedbench.figures._style import RC, save


def figure_named(name: str) -> ModuleType:
    """Return a figure's module.

    Raises:
        ConfigurationError: there is no such figure.
    """
    known = figure_names()
    if name not in known:
        raise ConfigurationError(
            f"draw the figure '{name}'",
            found=f"no such figure{nearest(name, known)}",
            allowed=", ".join(known),
            remedy="correct the name, or add a module to fedbench/figures",
        )
    return importlib.import_module(f"fedbench.figures.{name.replace('-', '_')}")


def write_figure(name: str, scene: Scene, out: Path, stem: str | None = None) -> list[Path]:
    """Draw a figure and write ``<out>/<stem>.pdf`` and ``.png`` (stem: the name); same inputs, same bytes.

    Raises:
        ConfigurationError: there is no such figure.
        RecordError, DataError: what it is drawn from is missing or damaged.
    """
    module = figure_named(name)
    with mpl.rc_context(RC):
        return save(module.draw(scene), out / (stem or name))
