"""The digest of the code that a method's runs depend on.

It covers the method's module, the task's, the training entry point, and everything of this package they import,
followed through the import statements without importing anything. Comments, docstrings and layout don't count: a digest
changes when the program does. Methods and tasks are imported by name at run time, so no run's digest depends on another
method or task.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from fedbench.errors import ConfigurationError

ROOT = Path(__file__).resolve().parents[1]
ENTRY = "fedbench.engine.job"


def code_digest(method: str, task: str = "node") -> str:
    """Return the sha256 of the code that runs of ``fedbench/methods/<method>.py`` on a task use.

    Raises:
        ConfigurationError: there is no such method.
    """
    module = f"fedbench.methods.{method}"
    if _file_of(module) is None:
        raise ConfigurationError(
            f"digest the code of method '{method}'",
            found=f"no fedbench/methods/{method}.py",
            remedy="name a method of the package; an outside program's digest is that of its own files",
        )
    digest = hashlib.sha256()
    for name in sorted(modules_used((module, ENTRY, f"fedbench.tasks.{task}.task"))):
        digest.update(f"{name} {program_digest(name)}\n".encode())
    return digest.hexdigest()


def modules_used(start: tuple[str, ...]) -> set[str]:
    """Return the modules of this package reachable from ``start`` through import statements."""
    found: set[str] = set()
    waiting = list(start)
    while waiting:
        name = waiting.pop()
        if name not in found and _file_of(name) is not None:
            found.add(name)
            waiting.extend(_imports(name))
    return found


@cache
def program_digest(module: str) -> str:
    """Return the sha256 of a module's program: its syntax tree without docstrings and positions."""
    tree = _without_docstrings(_tree(module))
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def _file_of(module: str) -> Path | None:
    parts = module.split(".")
    if parts[0] != ROOT.name:
        return None
    base = ROOT.joinpath(*parts[1:])
    candidates = (base.with_suffix(".py"), base / "__init__.py")
    return next((path for path in candidates if path.is_file()), None)


def _tree(module: str) -> ast.Module:
    path = _file_of(module)
    assert path is not None
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _imports(module: str) -> tuple[str, ...]:
    return tuple(name for node in ast.walk(_tree(module)) for name in _imported_names(node))


def _imported_names(node: ast.AST) -> Iterator[str]:
    """Yield every module a statement may load: ``from a.b import c`` loads a, a.b and, if it is a module, a.b.c."""
    if isinstance(node, ast.Import):
        targets = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
        targets = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    else:
        return
    for target in targets:
        parts = target.split(".")
        yield from (".".join(parts[: i + 1]) for i in range(len(parts)))


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [s for s in node.body if not _is_text(s)] or [ast.Pass()]
    return tree


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
