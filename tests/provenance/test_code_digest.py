"""A method's digest changes with the program it runs, and with nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fedbench.errors import ConfigurationError
from fedbench.methods.registry import method_names
from fedbench.provenance import code, code_digest


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copy = tmp_path / "fedbench"
    shutil.copytree(code.ROOT, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(code, "ROOT", copy)
    _forget()
    yield copy
    _forget()


def _forget() -> None:
    code.program_digest.cache_clear()
    code._imports.cache_clear()


def digests() -> dict[str, str]:
    _forget()
    return {name: code_digest(name) for name in method_names()}


def changed(before: dict[str, str], after: dict[str, str]) -> set[str]:
    return {name for name in before if before[name] != after[name]}


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_change_in_one_method_makes_only_its_runs_stale(package: Path) -> None:
    before = digests()
    edit(package / "methods/fedper.py", 'startswith("classifier.")', 'startswith("conv2.")')
    assert changed(before, digests()) == {"fedper"}


def test_a_change_in_the_engine_makes_all_runs_stale(package: Path) -> None:
    before = digests()
    edit(package / "engine/optimisers.py", "beta1: float = 0.9", "beta1: float = 0.8")
    assert changed(before, digests()) == set(before)


def test_a_network_counts_for_the_methods_that_use_it(package: Path) -> None:
    before = digests()
    edit(package / "models/majority.py", "expand(-1, block.slots, -1)", "expand(-1, block.slots, -1) * 2")
    assert changed(before, digests()) == {"majority"}


def test_comments_docstrings_and_tables_do_not_count(package: Path) -> None:
    before = digests()
    edit(
        package / "methods/fedper.py",
        '"""Share the base layers (masks never)."""',
        '"""Share all but the head."""  # clearer',
    )
    (package / "tables/__init__.py").write_text("layout = 3\n")
    assert changed(before, digests()) == set()


def test_an_unknown_method_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match=r"no fedbench/methods/nosuch\.py"):
        code_digest("nosuch")


def test_what_a_run_uses() -> None:
    used = code.modules_used(("fedbench.methods.fedaux", code.ENTRY))
    assert {"fedbench.kernels.gaussian", "fedbench.engine.run", "fedbench.seeds", "fedbench.methods.base"} <= used
    assert not any(name.startswith(("fedbench.methods.fedpub", "fedbench.tables", "fedbench.sources")) for name in used)
