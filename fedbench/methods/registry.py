"""Finds a method by name: ``fedbench/methods/<name>.py`` holds one class derived from `Method`, nothing is listed."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Mapping
from typing import Any, TypeGuard

import fedbench.methods
from fedbench.configuration.protocol import TrainingSettings
from fedbench.errors import ConfigurationError, nearest
from fedbench.methods.base import Method
from fedbench.settings import parse

_NOT_METHODS = {"base", "exchange", "registry", "weights"}


def method_names() -> list[str]:
    """Return the names of all methods in the package."""
    names = {module.name for module in pkgutil.iter_modules(fedbench.methods.__path__)}
    return sorted(name for name in names - _NOT_METHODS if not name.startswith("_"))


def require_method(name: str) -> None:
    """Check that a method exists, without importing it.

    Raises:
        ConfigurationError: it doesn't; names the nearest.
    """
    if name not in method_names():
        raise ConfigurationError(
            f"method '{name}'",
            found=f"no fedbench/methods/{name}.py{nearest(name, method_names())}",
            allowed=", ".join(method_names()),
            remedy="correct the name, or add the file",
        )


def method_class(name: str) -> type[Method[Any]]:
    """Return a method's class.

    Raises:
        ConfigurationError: there is no such method, or its module doesn't hold exactly one.
    """
    require_method(name)
    module = importlib.import_module(f"fedbench.methods.{name}")
    own: list[type[Method[Any]]] = [
        c for _, c in inspect.getmembers(module, inspect.isclass) if _is_method_of(c, module.__name__)
    ]
    if len(own) != 1:
        raise ConfigurationError(
            f"method '{name}'", found=f"{len(own)} Method classes in {module.__name__}", allowed="exactly one"
        )
    return own[0]


def _is_method_of(candidate: type, module: str) -> TypeGuard[type[Method[Any]]]:
    return issubclass(candidate, Method) and candidate.__module__ == module


def build(name: str, settings: Mapping[str, Any], training: TrainingSettings) -> Method[Any]:
    """Return the method with its settings validated.

    Raises:
        ConfigurationError: unknown method or setting, or a value out of range.
    """
    cls = method_class(name)
    return cls(parse(cls.Settings, settings, f"settings of method '{name}'"), training)
