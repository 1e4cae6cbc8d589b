"""What figures say of themselves, without importing a drawing library."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import fedbench.figures


@cache
def figure_text(name: str) -> dict[str, str]:
    """Return a figure module's text constants (``TITLE``, ``CAPTION``, ...) by name."""
    path = Path(fedbench.figures.__path__[0], f"{name.replace('-', '_')}.py")
    statements = ast.parse(path.read_text(encoding="utf-8")).body
    return {key: value for statement in statements for key, value in _text(statement)}


def _text(statement: ast.stmt) -> list[tuple[str, str]]:
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return []
    value = statement.value
    is_text = isinstance(value, ast.Constant) and isinstance(value.value, str)
    return [(statement.targets[0].id, value.value)] if is_text else []  # type: ignore[attr-defined]
