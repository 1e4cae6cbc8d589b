"""Every list of versions agrees with the lock file, which names no machine and no address."""

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PIN = re.compile(r"([A-Za-z0-9._-]+)==([A-Za-z0-9.!_-]+)")


def _name(text: str) -> str:
    return re.sub(r"[-_.]+", "-", text).lower()


def _pins(lines) -> dict[str, str]:
    matches = [PIN.fullmatch(line) for line in lines]
    assert all(matches), [line for line, match in zip(lines, matches, strict=True) if not match]
    return {_name(match[1]): match[2] for match in matches}


def _locked() -> dict[str, str]:
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    return _pins([line for line in lines if line and not line.startswith("#")])


def test_the_lock_file_holds_exact_pins_alone():
    locked = _locked()
    assert len(locked) > 80
    assert locked["torch"] == "2.13.0"
    assert not re.search(r"https?:|file:|@|/", (ROOT / "requirements.lock").read_text())


def test_the_project_asks_for_what_is_locked():
    asked = [*PROJECT["dependencies"], *(pin for extra in PROJECT["optional-dependencies"].values() for pin in extra)]
    locked = _locked()
    assert {name: version for name, version in _pins(asked).items() if locked.get(name) != version} == {}


def test_the_conda_environment_asks_for_the_same():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    pip = next(part["pip"] for part in environment["dependencies"] if isinstance(part, dict))
    assert pip == PROJECT["dependencies"]
    assert PROJECT["requires-python"] == "==3.11.*"
    assert "python=3.11" in environment["dependencies"]


def test_papers_of_the_project_are_there():
    licence = (ROOT / "LICENSE").read_text()
    assert licence.startswith("MIT License")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["license"] == PROJECT["license"] == "MIT"
    assert citation["title"].startswith("fedbench")
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        assert len((ROOT / name).read_text()) > 300, name
