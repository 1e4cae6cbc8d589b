"""Sources are tried in order; whatever goes wrong, no half file and no wrong file is left, and the error says why."""

import errno
import json
import shutil

import pytest
from sources_support import CONTENT, left_in

from fedbench.errors import SourceError
from fedbench.sources.fetch import fetch


def test_the_mirror_answers_first(mirror, mirror_source, web, tmp_path):
    out = tmp_path / "raw"
    fetched = fetch("small", [mirror_source, web.source], out)
    assert fetched.source.name == "mirror"
    assert web.requests == []
    assert {name: (out / name).read_bytes() for name in CONTENT} == CONTENT
    note = json.loads((out / "source.json").read_text())
    assert note == {"source": "mirror", "kind": "mirror", "files": {f.name: f.sha256 for f in mirror_source.files}}


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda folder: (folder / "a.bin").unlink(), "no such file"),
        (lambda folder: (folder / "a.bin").write_bytes(CONTENT["a.bin"][:-1]), "bytes, expected 307,200"),
        (lambda folder: (folder / "a.bin").write_bytes(CONTENT["a.bin"][::-1]), "sha256"),
    ],
)
def test_a_wrong_mirror_is_passed_over(mirror, mirror_source, web, tmp_path, spoil, reason):
    spoil(mirror)
    fetched = fetch("small", [mirror_source, web.source], tmp_path / "raw")
    assert fetched.source.name == "web"
    assert reason in fetched.passed_over[0]
    assert (tmp_path / "raw/a.bin").read_bytes() == CONTENT["a.bin"]


def test_every_source_and_its_reason_is_listed(mirror_source, web, tmp_path, monkeypatch):
    monkeypatch.delenv("FEDBENCH_MIRROR", raising=False)
    web.faults = ["404"]
    with pytest.raises(SourceError) as caught:
        fetch("small", [mirror_source, web.source], tmp_path / "raw")
    text = str(caught.value)
    assert "mirror (mirror, small): FEDBENCH_MIRROR is not set" in text
    assert f"web (http, {web.address}): HTTP status 404" in text
    assert "to do: connect to the network, or set FEDBENCH_MIRROR" in text
    assert not (tmp_path / "raw").exists()


def full(source, target):
    target.write_bytes(source.read_bytes()[:10])
    raise OSError(errno.ENOSPC, "No space left on device", str(target))


def test_a_full_disk_leaves_no_half_file(mirror, mirror_source, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(SourceError, match="No space left on device") as caught:
        fetch("small", [mirror_source], tmp_path / "raw")
    assert "free space" in caught.value.remedy
    assert left_in(tmp_path / "raw") == []


def test_a_full_disk_keeps_the_old_files(mirror, mirror_source, tmp_path, monkeypatch):
    fetch("small", [mirror_source], tmp_path / "raw")
    before = {path.name: path.read_bytes() for path in (tmp_path / "raw").iterdir()}
    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(SourceError):
        fetch("small", [mirror_source], tmp_path / "raw")
    assert {path.name: path.read_bytes() for path in (tmp_path / "raw").iterdir()} == before


def test_a_file_that_changes_while_it_is_copied_is_refused(mirror, mirror_source, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "copyfile", lambda source, target: target.write_bytes(b"x" * source.stat().st_size))
    with pytest.raises(SourceError, match="sha256"):
        fetch("small", [mirror_source], tmp_path / "raw")
    assert left_in(tmp_path / "raw") == []
