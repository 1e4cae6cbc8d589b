"""Typed, frozen settings that reject unknown keys and suggest the nearest known one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from fedbench.errors import ConfigurationError, nearest


class Settings(BaseModel):
    """Base of every configuration model: immutable, no unknown keys, no silent coercion of defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


S = TypeVar("S", bound=Settings)


def parse(model: type[S], values: Mapping[str, Any], where: str) -> S:
    """Validate ``values`` as ``model``.

    Raises:
        ConfigurationError: names the file, each offending key, and the nearest known key.
    """
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        faults = "; ".join(_describe(model, item) for item in error.errors())
        raise ConfigurationError(
            f"read {where}",
            found=faults,
            allowed=f"keys of {model.__name__}: {', '.join(model.model_fields)}",
            remedy=f"correct {where}",
        ) from error


def _describe(model: type[BaseModel], item: Any) -> str:
    path = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        return f"unknown key '{path}'{nearest(str(item['loc'][-1]), _known(model, item['loc'][:-1]))}"
    return f"{path}: {item['msg']}"


def _known(model: Any, path: tuple[Any, ...]) -> list[str]:
    """Return the field names of the model reached by following ``path`` through nested models."""
    for part in path:
        field = getattr(model, "model_fields", {}).get(part)
        model = field.annotation if field else model
    return list(getattr(model, "model_fields", {}))


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a YAML mapping.

    Raises:
        ConfigurationError: the file is missing (names its neighbours), unreadable, or no mapping.
    """
    if not path.exists():
        found = sorted(p.stem for p in path.parent.glob("*.yaml"))
        raise ConfigurationError(
            f"read {path}",
            found=f"no such file{nearest(path.stem, found)}",
            allowed=", ".join(found) or f"nothing yet in {path.parent}",
            remedy="correct the name, or add the file",
        )
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise ConfigurationError(f"read {path}", found=str(error), remedy="correct the YAML") from error
    if not isinstance(values, dict):
        raise ConfigurationError(f"read {path}", found=type(values).__name__, allowed="a mapping of keys to values")
    return values


def digest_of(values: Any) -> str:
    """Return the sha256 of ``values`` as canonical JSON (sorted keys, no spaces)."""
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
