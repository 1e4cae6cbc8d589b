"""Data sets from other hosts, formats and node orders: the same bytes, and never others."""

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest
from datasets_support import entry_of

from fedbench.datasets.build import build_dataset
from fedbench.datasets.canonical import content_order
from fedbench.datasets.node import NodeDataset
from fedbench.datasets.raw import RawNodes, reordered

# sha256 of the arrays' bytes, so that no change of the canonical order goes unnoticed: results rest on it.
DIGESTS = {
    "cora": "bb6cd600429b89a8f3ccfa526971f47024a7c6d152545800bf623bef3c02486e",
    "citeseer": "0b8b694ac7ae06ab060c71986abf9164436e874e3e41118ee0558dd75fe5633a",
    "pubmed": "4a6d85fa0733a507f60510c4754b3d5a39a583f8b5d7b49ef4da4476016454f9",
    "computers": "06d564c09e4e403413b243c490e166ba51e2f822e84b83c68dfd9a863b18dd98",
    "photo": "e2dd12a37a823fbe876cb57b17a8674c8f5fd87af3b5e655642ac84154bd1df1",
    "cs": "4f933d6ae3188e7a4faa185e3f2097ee89b26c2c25b82c9f99a0cd8dbbca94ec",
    "physics": "2084543c93dd2c70523e73e7290122ca1a8db75f9fc65151cb03526e8567b161",
    "chameleon": "e5a16b4458c21ba9dbaed51e19d2b5f83f01e8d9ae5c15815382e1a98b4b31b7",
    "squirrel": "0bfa080c2bcb46262e3c0ffbcce85e318fc99b0b10cc05b6e8ffdd30b97f2980",
    "actor": "a4ed0cc3357c4271ce0c0b608c57e620022d2d9d4da92888a5abf82f37d9f898",
    "minesweeper": "1a0797fac63ad82f5402eab5b99b3814175bc22b82b4fae974a2eae39610748f",
    "tolokers": "b24fcea8bee897a04a0e2995163ef593eda57ed503ed700f91d66dad3a3548d9",
    "cora-mini": "a36600afe7adffbf1e86467f9b794f684596d76e36d3c8d9c9f3e99945b884a3",
    "citeseer-mini": "f0b8202ea58453ac8eb5ada0945cfc9b40b17f6da5fb0b6b0ec63e5c61d9cfb2",
    "photo-mini": "1e9ab79a64be91fe1e7b54cf3399106dc72e8a613be5048adeed15fc89a9efbb",
}

IN_PGL = ("cora", "citeseer", "pubmed", "cora-mini", "citeseer-mini")


def digest(dataset) -> str:
    total = hashlib.sha256()
    for name in NodeDataset.arrays():
        array = getattr(dataset, name)
        total.update(f"{name} {array.dtype.str} {array.shape}".encode() + array.tobytes())
    return total.hexdigest()


@pytest.mark.parametrize("name", ["cora", "cora-mini"])
def test_two_formats_give_the_same_bytes(name, raw_folder, tmp_path):
    for source in ("mirror", "pgl"):
        build_dataset(entry_of(name), raw_folder("cora", source), tmp_path / source / "d.npz")
    assert (tmp_path / "mirror/d.npz").read_bytes() == (tmp_path / "pgl/d.npz").read_bytes()
    assert (tmp_path / "mirror/d.origin.npz").read_bytes() != (tmp_path / "pgl/d.origin.npz").read_bytes()


@pytest.mark.parametrize(("source", "name"), [*(("mirror", name) for name in DIGESTS), *(("pgl", n) for n in IN_PGL)])
def test_the_arrays_never_change(name, source, raw_folder, tmp_path):
    folder = raw_folder(name.removesuffix("-mini"), source)
    assert digest(build_dataset(entry_of(name), folder, tmp_path / "d.npz")) == DIGESTS[name]


@pytest.mark.parametrize("name", [name for name in DIGESTS if not name.endswith("-mini")])
def test_the_order_of_the_raw_files_does_not_matter(name, raw_of):
    raw = raw_of(name)
    first = reordered(raw, content_order(raw))
    shuffled = reordered(raw, np.random.default_rng(1).permutation(raw.y.size))
    assert_same(reordered(shuffled, content_order(shuffled)), first)


def assert_same(one: RawNodes, other: RawNodes) -> None:
    assert np.array_equal(one.y, other.y)
    assert np.array_equal(one.edges, other.edges)
    for part in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(one.x, part), getattr(other.x, part))


def test_linqs_classes_and_features_are_planetoids(raw_of, raw_folder):
    """By the mirror's list of LINQS paper ids in Planetoid's order, made independently of the canonical order."""
    planetoid, linqs = raw_of("cora"), raw_of("cora", "pgl")
    papers = (Path(os.environ["FEDBENCH_MIRROR"]) / "node/Cora/linqs_paper_ids.txt").read_text().split()
    lines = (raw_folder("cora", "pgl") / "cora.content").read_text().splitlines()
    place = {line.split("\t", 1)[0]: number for number, line in enumerate(lines)}
    assert_same(reordered(linqs, np.array([place[paper] for paper in papers])), planetoid)
