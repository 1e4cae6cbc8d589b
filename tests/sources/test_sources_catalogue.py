"""The catalogue's files are valid, agree with each other, and with what the mirror says about itself."""

import hashlib
import os
import re
import zipfile
from pathlib import Path

import pytest
import yaml

from fedbench.errors import ConfigurationError
from fedbench.sources.catalogue import TASKS, load_entry
from fedbench.sources.check import check
from fedbench.sources.kinds import RawFile

CONFIGS = Path(__file__).parents[2] / "configs"
FILES = {path.stem: yaml.safe_load(path.read_text()) for path in sorted((CONFIGS / "datasets").glob("*.yaml"))}
GROUPS = [name for name, values in FILES.items() if "members" in values]
NAMES = [name for name in FILES if name not in GROUPS]
NODE, GRAPH, REC = ([name for name in NAMES if FILES[name].get("task") == task] for task in TASKS)
RECOMPRESSED = ["computers", "cs", "photo", "physics"]  # in the mirror
ONE_SUM = [name for name in NAMES if name.removesuffix("-mini") not in RECOMPRESSED]
ELSEWHERE = ["ml-100k", "ml-100k-mini", "ml-1m", "ml-1m-lpsfed"]  # the mirror may not have them
UNUSED = "film_split"  # how the mirror's files start that no loader reads
NOT_IN_MIRROR = "arxiv"
MIRROR = os.environ.get("FEDBENCH_MIRROR")


@pytest.mark.parametrize("name", NAMES)
def test_every_entry_is_valid(name):
    entry = load_entry(name, CONFIGS)
    names = [source.name for source in entry.dataset.sources]
    assert (names[0] == "mirror") == (name not in ELSEWHERE)
    assert len(set(names)) == len(names)
    assert all(source.loader for source in entry.dataset.sources)


@pytest.mark.parametrize("name", ONE_SUM)
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


@pytest.mark.parametrize("name", [name for name in NODE if name != NOT_IN_MIRROR])
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


@pytest.mark.parametrize("name", GRAPH)
def test_the_mirror_holds_each_archive_and_says_its_sums(name):
    if not MIRROR:
        pytest.skip(f"FEDBENCH_MIRROR is not set: {name}'s archive left out")
    source = load_entry(name, CONFIGS).dataset.sources[0]
    archive = source.archive
    path = Path(MIRROR) / source.at / archive.name
    check(path, RawFile(name=archive.name, sha256=archive.sha256, bytes=archive.bytes))
    said = (path.parent / "SOURCE.md").read_text()
    assert archive.sha256 in said
    with zipfile.ZipFile(path) as packed:
        names = {Path(info.filename).name: info for info in packed.infolist()}
        for file in source.files:
            assert hashlib.sha256(packed.read(names[file.name])).hexdigest() == file.sha256
            assert file.sha256 in said or name == "collab"  # of the text, whose archive's sum alone is said


def test_collabs_official_files_have_the_sums_that_the_mirror_says():
    if not MIRROR:
        pytest.skip("FEDBENCH_MIRROR is not set: COLLAB's sums left out")
    said = (Path(MIRROR) / "tu/COLLAB/SOURCE.md").read_text()
    for file in load_entry("collab", CONFIGS).dataset.sources[2].files:
        assert f"{file.name} {file.bytes} bytes {file.sha256}" in said


@pytest.mark.parametrize("name", GRAPH)
def test_an_archive_of_unknown_sum_leaves_room_but_not_without_end(name):
    entry = load_entry(name, CONFIGS)
    mirror = entry.dataset.sources[0].archive
    for source in entry.dataset.sources:
        archive = getattr(source, "archive", None)
        if archive and not archive.sha256:
            assert 4 * mirror.bytes < archive.bytes <= 200_000_000


def write(folder: Path, values: dict) -> Path:
    (folder / "datasets").mkdir()
    (folder / "datasets/cora.yaml").write_text(yaml.safe_dump(values))
    return folder


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"titel": "x"}, "unknown key 'titel'.*did you mean 'title'"),
        ({"task": "nodes"}, r"task: nodes \(did you mean 'node'\?\)"),
        ({"task": None}, "found: no task\nallowed: task: node, graph, rec"),
        ({"task": "graph"}, "counts: Field required.*unknown key 'raw'"),
        ({"sources": []}, "sources"),
    ],
)
def test_a_wrong_entry_is_refused(tmp_path, change, message):
    values = yaml.safe_load((CONFIGS / "datasets/cora.yaml").read_text()) | change
    with pytest.raises(ConfigurationError, match=message):
        load_entry("cora", write(tmp_path, values))


def test_a_graph_of_many_has_no_subsets(tmp_path):
    write(tmp_path, {"title": "Small", "subset_of": "mutag", "nodes": 10, "edges": 10})
    (tmp_path / "datasets/mutag.yaml").write_text((CONFIGS / "datasets/mutag.yaml").read_text())
    with pytest.raises(ConfigurationError, match="a subset of 'mutag', whose task is graph"):
        load_entry("cora", tmp_path)


def test_entries_of_node_data_sets_have_no_word_of_other_tasks():
    """Their digests decide what is stale, and are those of the time before there were archives and other splits."""
    values = load_entry("cora", CONFIGS).model_dump(mode="json")
    assert set(values) == {"name", "dataset", "subset"}
    assert "archive" not in str(values)


def test_a_misspelt_data_set_gets_a_suggestion():
    with pytest.raises(ConfigurationError, match="did you mean 'citeseer'"):
        load_entry("citeser", CONFIGS)


def test_no_file_name_leaves_its_folder(tmp_path):
    values = yaml.safe_load((CONFIGS / "datasets/cora.yaml").read_text())
    values["sources"][0]["files"][0]["name"] = "../x"
    with pytest.raises(ConfigurationError, match="name"):
        load_entry("cora", write(tmp_path, values))


def test_another_preparation_changes_the_preparation_alone():
    plain, unscaled = (load_entry(name, CONFIGS).dataset for name in ("cora", "cora-unscaled"))
    assert (plain.prepare.row_normalise, unscaled.prepare.row_normalise) == (True, False)
    assert unscaled.title == "Cora (features as given)"
    same = plain.model_copy(update={"title": unscaled.title, "prepare": unscaled.prepare})
    assert same == unscaled
