"""Method files: a method's label and its named variants.

Optional: without one, a method has one variant, ``default``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field

from fedbench.configuration.protocol import TaskName
from fedbench.errors import ConfigurationError, nearest
from fedbench.settings import Settings, parse, read_yaml


class Variant(Settings):
    """One way to run a method: what it changes in the method's own settings and in the protocol."""

    label: str | None = Field(None, description="row name in tables; the method's label if absent")
    note: str = Field("", description="what differs and why; printed under tables")
    method: dict[str, Any] = Field({}, description="keys of the method's Settings")
    training: dict[str, Any] = Field({}, description="keys of TrainingSettings")


class MethodFile(Settings):
    """``configs/methods/<name>.yaml``."""

    label: str
    tasks: tuple[TaskName, ...] = Field(
        ("node", "graph", "rec"), min_length=1, description="what the method is for; elsewhere it fails, or is another"
    )
    variants: dict[str, Variant] = {"default": Variant()}


def load_method_file(name: str, configs: Path) -> MethodFile:
    """Read a method's file; a method without one gets its name as label and the variant ``default``."""
    path = configs / "methods" / f"{name}.yaml"
    if not path.exists():
        return MethodFile(label=name)
    return parse(MethodFile, read_yaml(path), str(path))


def require_task(name: str, task: str, configs: Path) -> None:
    """Check that a method is for a task.

    Raises:
        ConfigurationError: it isn't.
    """
    tasks = load_method_file(name, configs).tasks
    if task not in tasks:
        raise ConfigurationError(
            f"method '{name}' for the task '{task}'",
            found="a method that is not for it",
            allowed=f"protocols of the task {' or '.join(tasks)}",
            remedy=f"choose another protocol or method; if the method can do it, say so in configs/methods/{name}.yaml",
        )


def variant_of(name: str, variant: str, configs: Path) -> Variant:
    """Return one variant of a method.

    Raises:
        ConfigurationError: the method has no such variant.
    """
    variants = load_method_file(name, configs).variants
    if variant not in variants:
        raise ConfigurationError(
            f"variant '{variant}' of method '{name}'",
            found=f"no such variant{nearest(variant, variants)}",
            allowed=", ".join(variants),
            remedy=f"correct the name, or add it to configs/methods/{name}.yaml",
        )
    return variants[variant]


def label_of(name: str, variant: str, configs: Path) -> str:
    """Return the row name of a method's variant in tables and figures."""
    return variant_of(name, variant, configs).label or load_method_file(name, configs).label
