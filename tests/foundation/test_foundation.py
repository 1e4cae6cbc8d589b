"""Settings, files, seeds and errors."""

from __future__ import annotations

import errno
import hashlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedbench import seeds
from fedbench.configuration.merge import merged
from fedbench.configuration.run import block_name, seed_block
from fedbench.errors import ConfigurationError, DataError, FedbenchError, nearest
from fedbench.files import read_arrays, sha256_of, whole_file, write_arrays, write_json
from fedbench.settings import Settings, digest_of, parse, read_yaml


class Inner(Settings):
    width: int = 3


class Outer(Settings):
    inner: Inner = Inner()
    maybe: Inner | None = None
    named: dict[str, Inner] = {}
    listed: tuple[Inner, ...] = ()
    rounds: int = 1


@pytest.mark.parametrize(
    ("values", "path"),
    [
        ({"inner": {"widht": 4}}, "inner.widht"),
        ({"maybe": {"widht": 4}}, "maybe.widht"),
        ({"named": {"rounds": {"widht": 4}}}, "named.rounds.widht"),
        ({"listed": [{}, {"widht": 4}]}, "listed.1.widht"),
    ],
)
def test_unknown_keys_name_the_nearest_at_any_depth(values: dict[str, object], path: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        parse(Outer, values, "somewhere.yaml")
    assert f"unknown key '{path}' (did you mean 'width'?)" in str(error.value)
    assert "keys of Inner: width" in str(error.value)
    with pytest.raises(ConfigurationError, match="did you mean 'rounds'"):
        parse(Outer, {"round": 4}, "somewhere.yaml")


def test_wrong_values_name_their_file() -> None:
    with pytest.raises(ConfigurationError, match=r"somewhere\.yaml"):
        parse(Outer, {"rounds": "many"}, "somewhere.yaml")


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(Exception, match="frozen"):
        Outer().rounds = 2  # type: ignore[misc]


def test_a_missing_yaml_names_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "quick.yaml").write_text("a: 1")
    with pytest.raises(ConfigurationError, match="did you mean 'quick'"):
        read_yaml(tmp_path / "quikc.yaml")
    (tmp_path / "broken.yaml").write_text("a: [1")
    with pytest.raises(ConfigurationError, match="correct the YAML"):
        read_yaml(tmp_path / "broken.yaml")
    (tmp_path / "list.yaml").write_text("- 1")
    with pytest.raises(ConfigurationError, match="a mapping"):
        read_yaml(tmp_path / "list.yaml")


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text("old")

    def fill_the_disk() -> None:
        with whole_file(path) as temporary:
            temporary.write_text("half")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        fill_the_disk()
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["file.txt"]


def test_arrays_round_trip_and_bytes_depend_on_content_only(tmp_path: Path) -> None:
    one, two = tmp_path / "one.npz", tmp_path / "two.npz"
    for path in (one, two):
        write_arrays(path, {"x": np.arange(5), "y": np.ones((2, 2))}, {"b": 1, "a": "z"})
    assert sha256_of(one) == sha256_of(two)
    arrays, meta = read_arrays(one)
    assert meta == {"a": "z", "b": 1}
    assert np.array_equal(arrays["x"], np.arange(5))


def test_pickled_and_truncated_arrays_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "objects.npz"
    np.savez(path, meta=np.array("{}"), x=np.array([{}], dtype=object))
    with pytest.raises(DataError, match="allow_pickle"):
        read_arrays(path)
    write_arrays(path, {"x": np.arange(1000)}, {})
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(DataError, match="delete the file"):
        read_arrays(path)


def test_json_refuses_nan(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "x.json", {"a": float("nan")})
    assert not list(tmp_path.iterdir())


@given(st.lists(st.one_of(st.integers(), st.text(max_size=5)), min_size=1, max_size=4))
def test_streams_repeat_and_differ(components: list[int | str]) -> None:
    assert seeds.key(*components) == seeds.key(*components)
    assert seeds.key(*components) != seeds.key(*components, 0)


def test_streams_are_frozen() -> None:
    """Computed once with hashlib by hand: a change would silently change every published figure."""
    assert seeds.key("weights", 0, "conv1.weight") == FROZEN_KEY
    assert seeds.key("a", 1) != seeds.key("a", "1")
    assert 0 <= seeds.integer("x", below=7) < 7


_TEXT = b"str:weights\x1fint:0\x1fstr:conv1.weight"
FROZEN_KEY = tuple(int.from_bytes(hashlib.sha256(_TEXT).digest()[i : i + 8], "little") for i in (0, 8))


def test_merge_is_deep_and_leaves_its_inputs() -> None:
    base = {"a": {"x": 1, "y": 2}, "b": 3}
    assert merged(base, {"a": {"y": 5}, "c": 4}) == {"a": {"x": 1, "y": 5}, "b": 3, "c": 4}
    assert base == {"a": {"x": 1, "y": 2}, "b": 3}


@given(st.integers(0, 50), st.integers(0, 20))
def test_seed_blocks_round_trip(first: int, more: int) -> None:
    block = tuple(range(first, first + more + 1))
    assert seed_block(block_name(block)) == block


@pytest.mark.parametrize("text", ["3", "5-2", "0-", "a-b", "0-2-4"])
def test_what_is_no_block_of_seeds_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="as in '0-2'"):
        seed_block(text)


def test_digest_does_not_depend_on_key_order() -> None:
    assert digest_of({"a": 1, "b": [1, 2]}) == digest_of({"b": [1, 2], "a": 1})
    assert digest_of({"a": 1}) != digest_of({"a": 1.5})


def test_an_error_says_four_things() -> None:
    text = str(FedbenchError("read x", found="nothing", allowed="y", remedy="make y"))
    assert [line.split(":")[0].strip() for line in text.splitlines()] == ["asked", "found", "allowed", "to do"]
    assert nearest("cite", ["cora", "citeseer"]) and not nearest("zzz", ["cora"])
