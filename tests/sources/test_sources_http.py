"""Downloads from a server on this machine that breaks off, lies, refuses, or is not there."""

import errno
import socket
import time
from pathlib import Path

import pytest
from sources_support import CONTENT, FILES, left_in

from fedbench.errors import SourceError
from fedbench.sources import http
from fedbench.sources.kinds import HttpSource

SIZE = len(CONTENT["a.bin"])
KEPT = SIZE // 2 // http.CHUNK * http.CHUNK  # whole chunks of the half that arrived


def contents(paths: dict[str, Path]) -> dict[str, bytes]:
    return {name: path.read_bytes() for name, path in paths.items()}


def ranges(web) -> list[str | None]:
    return [asked for name, asked in web.requests if name == "a.bin"]


def test_files_are_downloaded_once(web):
    assert contents(http.obtain(web.source)) == CONTENT
    assert contents(http.obtain(web.source)) == CONTENT
    assert [name for name, _ in web.requests] == ["a.bin", "b.txt"]


def test_a_broken_download_goes_on_where_it_broke(web):
    web.faults = ["break"]
    assert contents(http.obtain(web.source)) == CONTENT
    assert ranges(web) == [None, f"bytes={KEPT}-"]


def test_a_later_run_goes_on_where_the_last_one_gave_up(web, cache):
    web.faults = ["break", *["503"] * (http.ATTEMPTS - 1)]
    with pytest.raises(SourceError, match=r"HTTP status 503 \(4 attempts\)"):
        http.obtain(web.source)
    assert [path.stat().st_size for path in cache.glob("*.part")] == [KEPT]
    assert contents(http.obtain(web.source)) == CONTENT
    assert ranges(web)[-1] == f"bytes={KEPT}-"
    assert list(cache.glob("*.part")) == []


def test_a_server_that_can_not_continue_starts_again(web):
    web.faults = ["break", "no-range"]
    assert contents(http.obtain(web.source)) == CONTENT
    assert ranges(web) == [None, f"bytes={KEPT}-"]


def test_a_part_longer_than_the_file_is_thrown_away(web, cache):
    cache.mkdir(parents=True)
    (cache / f"{FILES[0].sha256}.part").write_bytes(b"x" * (SIZE + 1))
    web.faults = ["416"]
    assert contents(http.obtain(web.source)) == CONTENT


@pytest.mark.parametrize("status", ["500", "503", "429"])
def test_a_passing_fault_is_tried_again(web, status):
    web.faults = [status, status]
    assert contents(http.obtain(web.source)) == CONTENT


def test_a_missing_file_is_not_tried_again(web):
    web.faults = ["404"]
    with pytest.raises(SourceError, match="HTTP status 404"):
        http.obtain(web.source)
    assert len(web.requests) == 1


@pytest.mark.parametrize(
    ("served", "reason"),
    [
        (CONTENT["a.bin"][::-1], "sha256"),
        (CONTENT["a.bin"][:1000], "1,000 bytes, expected 307,200"),
        (CONTENT["a.bin"] * 9, "expected 307,200"),
    ],
)
def test_a_wrong_file_is_refused_and_removed(web, cache, served, reason):
    web.content["a.bin"] = served
    with pytest.raises(SourceError, match=reason):
        http.obtain(web.source)
    assert left_in(cache) == [f"{FILES[0].sha256}.lock"]


def test_a_damaged_file_in_the_cache_is_downloaded_again(web):
    paths = http.obtain(web.source)
    paths["a.bin"].write_bytes(b"damaged")
    assert contents(http.obtain(web.source)) == CONTENT


def test_no_network_fails_at_once(cache):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}/data"
    start = time.monotonic()
    with pytest.raises(SourceError, match=r"can't reach 127\.0\.0\.1"):
        http.obtain(HttpSource(name="gone", kind="http", at=address, files=FILES))
    assert time.monotonic() - start < 1
    assert list(cache.glob("*.part")) == []


def test_a_host_that_does_not_answer_is_given_up_and_its_other_files_are_skipped(monkeypatch):
    asked = []

    def silent(url, **options):
        asked.append((url, options["timeout"]))
        raise http.requests.ConnectTimeout("timed out")

    monkeypatch.setattr(http.requests, "get", silent)
    with pytest.raises(SourceError, match=r"can't reach example\.org \(ConnectTimeout\)"):
        http.obtain(HttpSource(name="far", kind="http", at="https://example.org/d", files=FILES))
    assert asked == [("https://example.org/d/a.bin", (5.0, 30.0))]


def test_a_full_disk_in_the_cache_is_a_reason_like_any_other(web, tmp_path, monkeypatch):
    from fedbench.sources.fetch import fetch

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(http, "_receive", full)
    with pytest.raises(SourceError, match=r"web \(http, .*No space left on device"):
        fetch("small", [web.source], tmp_path / "raw")
    assert not (tmp_path / "raw").exists()
