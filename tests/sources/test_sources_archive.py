"""Files in a zip file, in a mirror or at an address: checked one by one, and never more than the catalogue says."""

import hashlib
import io
import zipfile

import pytest
from sources_support import CONTENT, FILES, left_in

from fedbench.errors import SourceError
from fedbench.files import sha256_of
from fedbench.sources import archive, http_archive
from fedbench.sources.fetch import fetch
from fedbench.sources.kinds import Archive, HttpSource, MirrorSource


def zipped(content: dict[str, bytes], slash: str = "//") -> bytes:
    """Return a zip file; TUDataset's have two slashes after the folder."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in {"README.txt": b"not asked for", **content}.items():
            packed.writestr(f"D{slash}{name}", data)
    return stream.getvalue()


GOOD = zipped(CONTENT)


def described(data: bytes, known: bool) -> Archive:
    if known:
        return Archive(name="d.zip", folder="D", bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    return Archive(name="d.zip", folder="D", bytes=10_000_000)


def at_web(web, data: bytes, known: bool) -> HttpSource:
    web.content["d.zip"] = data
    return HttpSource(name="web", kind="http", at=web.address, files=FILES, archive=described(GOOD, known))


@pytest.mark.parametrize("slash", ["/", "//"])
@pytest.mark.parametrize("known", [True, False])
def test_files_come_out_of_an_archive_at_an_address(known, slash, web, tmp_path):
    data = zipped(CONTENT, slash)
    web.content["d.zip"] = data
    source = HttpSource(name="web", kind="http", at=web.address, files=FILES, archive=described(data, known))
    fetch("small", [source], tmp_path / "raw")
    assert {name: (tmp_path / "raw" / name).read_bytes() for name in CONTENT} == CONTENT
    assert left_in(tmp_path / "raw") == ["a.bin", "b.txt", "source.json"]


@pytest.mark.parametrize("known", [True, False])
def test_an_archive_is_downloaded_once(known, web):
    source = at_web(web, GOOD, known)
    for _ in range(2):
        paths = http_archive.obtain(source, source.archive)
    assert {name: path.read_bytes() for name, path in paths.items()} == CONTENT
    assert len(web.requests) == 1


def test_an_archive_of_unknown_sum_is_thrown_away_and_one_of_known_sum_kept(web, cache):
    unknown, known = at_web(web, GOOD, False), at_web(web, GOOD, True)
    http_archive.obtain(unknown, unknown.archive)
    files = sorted(file.sha256 for file in FILES)
    assert [name for name in left_in(cache) if not name.endswith(".lock")] == files
    assert all(name.endswith(".lock") for name in left_in(cache.parent / "archives"))
    http_archive.obtain(known, known.archive)
    assert (cache / known.archive.sha256).read_bytes() == GOOD


def test_an_archive_of_another_sum_is_never_opened(web, monkeypatch):
    source = at_web(web, GOOD[:-1] + b"!", True)
    monkeypatch.setattr(archive.zipfile, "ZipFile", lambda *_: pytest.fail("opened an unchecked archive"))
    with pytest.raises(SourceError, match="sha256"):
        http_archive.obtain(source, source.archive)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (CONTENT | {"b.txt": CONTENT["b.txt"][::-1]}, "b.txt: sha256"),
        (CONTENT | {"b.txt": CONTENT["b.txt"] * 1000}, "b.txt: 200,000 bytes, expected 200"),
        ({"a.bin": CONTENT["a.bin"]}, "no item named 'D/b.txt'"),
    ],
)
def test_a_wrong_file_in_an_archive_of_unknown_sum_is_refused(content, reason, web, cache, tmp_path):
    source = at_web(web, zipped(content), False)
    with pytest.raises(SourceError, match=reason):
        fetch("small", [source], tmp_path / "raw")
    assert not (tmp_path / "raw").exists()
    assert not (cache / FILES[1].sha256).exists()
    assert all(name.endswith(".lock") for name in left_in(cache.parent / "archives"))


def test_a_file_of_another_size_is_not_even_unpacked(web, monkeypatch):
    source = at_web(web, zipped(CONTENT | {"a.bin": b"0" * 5_000_000}), False)
    monkeypatch.setattr(archive.shutil, "copyfileobj", lambda *_: pytest.fail("unpacked"))
    with pytest.raises(SourceError, match=r"a.bin: 5,000,000 bytes, expected 307,200"):
        http_archive.obtain(source, source.archive)


@pytest.mark.parametrize("data", [b"<html>moved</html>", GOOD[:-100]])
def test_what_is_no_zip_file_is_a_reason_like_any_other(data, web, tmp_path):
    with pytest.raises(SourceError, match=r"web \(http, .*zip file"):
        fetch("small", [at_web(web, data, False)], tmp_path / "raw")


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5, 0.9])
def test_a_damaged_member_is_a_reason_like_any_other(share, web):
    with zipfile.ZipFile(io.BytesIO(GOOD)) as packed:
        info = packed.getinfo("D//a.bin")
    place = info.header_offset + 30 + len(info.filename) + int(share * info.compress_size)
    source = at_web(web, GOOD[:place] + bytes([GOOD[place] ^ 255]) + GOOD[place + 1 :], False)
    with pytest.raises(SourceError, match=r"D/a\.bin in "):
        http_archive.obtain(source, source.archive)


def test_no_more_is_downloaded_than_the_catalogue_allows(web, cache):
    source = at_web(web, GOOD, False)
    limit = source.archive.model_copy(update={"bytes": len(GOOD) - 1})
    with pytest.raises(SourceError, match=f"d.zip: more than {len(GOOD) - 1:,} bytes"):
        http_archive.obtain(source, limit)
    assert not (cache / FILES[0].sha256).exists()


def test_a_download_that_broke_goes_on(web):
    web.faults = ["break"]
    source = at_web(web, GOOD, False)
    paths = http_archive.obtain(source, source.archive)
    assert {name: path.read_bytes() for name, path in paths.items()} == CONTENT
    assert [name for name, _ in web.requests] == ["d.zip", "d.zip"]


@pytest.fixture
def packed_mirror(mirror):
    """Return the source of a mirror that holds the files in an archive alone."""
    for name in CONTENT:
        (mirror / name).unlink()
    (mirror / "d.zip").write_bytes(GOOD)
    return MirrorSource(name="mirror", kind="mirror", at="small", files=FILES, archive=described(GOOD, True))


def test_files_come_out_of_an_archive_in_the_mirror(packed_mirror, tmp_path):
    fetch("small", [packed_mirror], tmp_path / "raw")
    assert {name: (tmp_path / "raw" / name).read_bytes() for name in CONTENT} == CONTENT


@pytest.mark.parametrize("known", [True, False])
def test_a_mirror_without_the_archive_is_passed_over(known, packed_mirror, mirror, web, tmp_path):
    (mirror / "d.zip").unlink()
    source = packed_mirror.model_copy(update={"archive": described(GOOD, known)})
    fetched = fetch("small", [source, at_web(web, GOOD, True)], tmp_path / "raw")
    assert fetched.source.name == "web"
    assert "d.zip: no such file" in fetched.passed_over[0]


def test_a_mirrors_archive_of_another_sum_is_never_opened(packed_mirror, mirror, monkeypatch, tmp_path):
    (mirror / "d.zip").write_bytes(GOOD[::-1])
    monkeypatch.setattr(archive.zipfile, "ZipFile", lambda *_: pytest.fail("opened an unchecked archive"))
    with pytest.raises(SourceError, match=f"expected {packed_mirror.archive.sha256}"):
        fetch("small", [packed_mirror], tmp_path / "raw")
    assert sha256_of(mirror / "d.zip") != packed_mirror.archive.sha256
