"""A method's memory as named tensors and JSON, and back.

A memory that can be written is None, or a dataclass whose fields are tensors, numbers, texts, None, dictionaries and
lists of those, or such a dataclass again. A field with the metadata `fedbench.methods.exchange.REMADE` may be anything:
it is left out, and stays as a new start makes it.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

import torch
from torch import Tensor


class NotPlainError(Exception):
    """A memory holds something that can't be written."""


def leaves(memory: Any) -> tuple[dict[str, Tensor], Any]:
    """Return the tensors by path, and everything else as JSON values.

    Raises:
        NotPlainError: neither, somewhere.
    """
    tensors: dict[str, Tensor] = {}
    return tensors, _plain(memory, "", tensors)


def _plain(value: Any, path: str, tensors: dict[str, Tensor]) -> Any:
    if isinstance(value, Tensor):
        tensors[path] = value
        return {"tensor": path}
    if value is None or isinstance(value, (bool, int, float, str)):
        return {"value": value}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": [[key, _item(inner, f"{path}/{key}", tensors)] for key, inner in value.items()]}  # in order
    if isinstance(value, list):
        return {"list": [_item(inner, f"{path}/{number}", tensors) for number, inner in enumerate(value)]}
    if is_dataclass(value) and not isinstance(value, type):
        inner = {f.name: getattr(value, f.name) for f in fields(value) if not f.metadata.get("remade")}
        return {"fields": {name: _plain(held, f"{path}/{name}", tensors) for name, held in inner.items()}}
    raise NotPlainError(f"a {type(value).__name__} at '{path.strip('/') or 'its root'}'")


def _item(value: Any, path: str, tensors: dict[str, Tensor]) -> Any:
    """An entry of a dictionary or list: a dataclass there has no fresh counterpart to be rebuilt from."""
    if is_dataclass(value):
        raise NotPlainError(f"a {type(value).__name__} in a collection at '{path.strip('/')}'")
    return _plain(value, path, tensors)


def rebuilt(fresh: Any, tensors: dict[str, Tensor], plain: Any, device: torch.device) -> Any:
    """Return the memory that `leaves` described.

    Args:
        fresh: the memory of a new start; its tensors say where theirs go.
        tensors: by path.
        plain: everything else.
        device: where tensors go that a new start doesn't have.
    """
    ((kind, content),) = plain.items()
    if kind == "tensor":
        return tensors[content].to(fresh.device if isinstance(fresh, Tensor) else device)
    if kind == "value":
        return content
    if kind == "dict":
        return {key: rebuilt(_of(fresh, key), tensors, inner, device) for key, inner in content}
    if kind == "list":
        return [rebuilt(None, tensors, inner, device) for inner in content]
    return replace(
        fresh, **{name: rebuilt(getattr(fresh, name), tensors, inner, device) for name, inner in content.items()}
    )


def _of(fresh: Any, key: str) -> Any:
    return fresh.get(key) if isinstance(fresh, dict) else None
