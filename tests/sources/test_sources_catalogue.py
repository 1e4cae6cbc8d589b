"""The catalogue's files are valid, agree with each other, and with what the mirror says about itself."""

import os
import re
import zipfile
from pathlib import Path

import pytest
import yaml

from fedbench.errors import ConfigurationError
from fedbench.sources.catalogue import load_entry
from fedbench.sources.check import check

CONFIGS = Path(__file__).parents[2] / "configs"
NAMES = sorted(path.stem for path in (CONFIGS / "datasets").glob("*.yaml"))
WHOLE = [name for name in NAMES if not name.endswith("-mini")]
RECOMPRESSED = ["computers", "cs", "photo", "physics"]  # in the mirror
UNUSED = "film_split"  # how the mirror's files start that no loader reads
MIRROR = os.environ.get("FEDBENCH_MIRROR")


@pytest.mark.parametrize("name", NAMES)
def test_every_entry_is_valid(name):
    entry = load_entry(name, CONFIGS)
    names = [source.name for source in entry.dataset.sources]
    assert names[0] == "mirror"
    assert len(set(names)) == len(names)
    assert all(source.loader for source in entry.dataset.sources)


@pytest.mark.parametrize("name", sorted({*NAMES} - {*RECOMPRESSED}))
def test_a_file_has_one_sum_whatever_the_source(name):
    sums: dict[str, set[str]] = {}
    for source in load_entry(name, CONFIGS).dataset.sources:
        for file in source.files:
            sums.setdefault(file.name, set()).add(file.sha256)
    assert all(len(found) == 1 for found in sums.values())


@pytest.mark.parametrize("name", RECOMPRESSED)
def test_the_mirrors_copy_unpacked_is_the_originals_file(name, tmp_path):
    if not MIRROR:
        pytest.skip(f"FEDBENCH_MIRROR is not set: {name}'s original file left out")
    mirror, original = load_entry(name, CONFIGS).dataset.sources
    (file,) = original.files
    with (
        zipfile.ZipFile(Path(MIRROR) / mirror.at / file.name) as packed,
        zipfile.ZipFile(tmp_path / file.name, "w") as stored,
    ):
        for member in packed.namelist():
            with stored.open(member, "w") as stream:
                stream.write(packed.read(member))
    check(tmp_path / file.name, file)


@pytest.mark.parametrize("name", WHOLE)
def test_the_mirror_holds_what_the_catalogue_lists(name):
    if not MIRROR:
        pytest.skip(f"FEDBENCH_MIRROR is not set: {name}'s mirror files left out")
    source = load_entry(name, CONFIGS).dataset.sources[0]
    folder = Path(MIRROR) / source.at
    for file in source.files:
        check(folder / file.name, file)
    note = (folder.parent / "SOURCE.md").read_text()
    listed = re.findall(rf"^([0-9a-f]{{64}}) +(\d+) +raw/((?!{UNUSED})\S+)$", note, re.MULTILINE)
    assert sorted(listed) == sorted((file.sha256, str(file.bytes), file.name) for file in source.files)


def write(folder: Path, values: dict) -> Path:
    (folder / "datasets").mkdir()
    (folder / "datasets/cora.yaml").write_text(yaml.safe_dump(values))
    return folder


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"titel": "x"}, "unknown key 'titel'.*did you mean 'title'"),
        ({"task": "nodes"}, "task: Input should be 'node'"),
        ({"sources": []}, "sources"),
    ],
)
def test_a_wrong_entry_is_refused(tmp_path, change, message):
    values = yaml.safe_load((CONFIGS / "datasets/cora.yaml").read_text()) | change
    with pytest.raises(ConfigurationError, match=message):
        load_entry("cora", write(tmp_path, values))


def test_a_misspelt_data_set_gets_a_suggestion():
    with pytest.raises(ConfigurationError, match="did you mean 'citeseer'"):
        load_entry("citeser", CONFIGS)


def test_no_file_name_leaves_its_folder(tmp_path):
    values = yaml.safe_load((CONFIGS / "datasets/cora.yaml").read_text())
    values["sources"][0]["files"][0]["name"] = "../x"
    with pytest.raises(ConfigurationError, match="name"):
        load_entry("cora", write(tmp_path, values))
