"""Typed, frozen settings that reject unknown keys and suggest the nearest known one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

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
        faults = [(item, _model_at(model, item["loc"][:-1]) or model) for item in error.errors()]
        models = dict.fromkeys(at for _, at in faults)
        raise ConfigurationError(
            f"read {where}",
            found="; ".join(_describe(item, at) for item, at in faults),
            allowed="; ".join(f"keys of {at.__name__}: {', '.join(at.model_fields)}" for at in models),
            remedy=f"correct {where}",
        ) from error


def _describe(item: Any, at: type[BaseModel]) -> str:
    path = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        return f"unknown key '{path}'{nearest(str(item['loc'][-1]), at.model_fields)}"
    return f"{path}: {item['msg']}"


def _model_at(kind: Any, path: tuple[Any, ...]) -> type[BaseModel] | None:
    """Return the model that ``path`` leads to, through models, mappings, sequences and fields that may be None."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        if not path:
            return kind
        field = kind.model_fields.get(path[0])
        return _model_at(field.annotation, path[1:]) if field else None
    container = get_origin(kind) in (dict, list, tuple)
    inner = get_args(kind)[-1:] if get_origin(kind) is dict else get_args(kind)
    found = (_model_at(each, path[1:] if container else path) for each in inner)
    return next((model for model in found if model), None)


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
