"""Records of a bundle stand for those of a folder, as long as the present settings and code would make them again."""

import shutil

import pytest

from fedbench.errors import RecordError
from fedbench.records.pack import Bundle
from fedbench.records.reuse import reusable


def packed(world):
    """Move all records into a bundle, and return its folder."""
    where = ["--configs", world.configs, "--records", world.records]
    world.run("pack", "--suite", "s", *where, "--out", world.root / "bundle")
    shutil.rmtree(world.records)
    return world.root / "bundle"


@pytest.fixture
def bundle(world):
    """Return a bundle of the toy table's four records, which are nowhere else."""
    world.fill()
    return packed(world)


def methods(names):
    return sorted(name.split("/")[3] for name in names)


def text(world, folder, suffix="md"):
    return (world.root / folder / f"toy.{suffix}").read_text()


def test_a_table_from_a_bundle_beside_no_records_is_the_table_from_records(world):
    world.fill()
    assert world.table(out="direct") == 0
    bundle = packed(world)
    assert world.table(out="again") == 1
    assert world.table("--bundle", bundle, out="again") == 0
    assert text(world, "again") == text(world, "direct")
    assert text(world, "again", "csv") == text(world, "direct", "csv")


def test_every_record_is_reusable_until_its_settings_change(world, bundle):
    assert methods(reusable(bundle, world.configs)) == ["fedavg", "fedper", "local", "majority"]
    world.configure("methods", "fedper", {"label": "FedPer", "variants": {"default": {"training": {"rounds": 3}}}})
    assert methods(reusable(bundle, world.configs)) == ["fedavg", "local", "majority"]


def test_a_record_made_by_other_code_is_not_reusable(world, bundle):
    headers = bundle / "headers.jsonl"
    (name,) = (name for name in Bundle(bundle).names() if "/fedavg/" in name)
    code = Bundle(bundle).get(name).record.header.digests.code
    lines = headers.read_text().splitlines()
    headers.write_text("".join(line.replace(code, "0" * 64) + "\n" if name in line else line + "\n" for line in lines))
    assert methods(reusable(bundle, world.configs)) == ["fedper", "local", "majority"]


def test_own_records_fill_what_the_bundle_can_not(world, bundle):
    world.configure("methods", "fedper", {"label": "FedPer", "variants": {"default": {"training": {"rounds": 3}}}})
    assert world.table("--bundle", bundle) == 1
    world.fill()
    for method in ("fedavg", "local", "majority"):
        shutil.rmtree(world.records / "toy" / "cora" / "metis-2" / method)
    assert world.table("--bundle", bundle) == 0
    assert "48.00" in text(world, "tables")


def test_a_folder_that_is_no_bundle_is_an_error(world):
    with pytest.raises(RecordError, match="fedbench pack"):
        reusable(world.records, world.configs)
