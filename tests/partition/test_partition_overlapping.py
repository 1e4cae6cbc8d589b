"""Overlapping clients: halves of METIS parts, FED-PUB's sizes on Cora, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from partition_support import built, rng, scheme_of

from fedbench.datasets.node import NodeDataset
from fedbench.errors import ConfigurationError, DataError
from fedbench.partition.clients import memberships
from fedbench.partition.kinds import OverlappingScheme
from fedbench.partition.measures import measure
from fedbench.partition.name import PartitionName
from fedbench.partition.overlapping import overlapping_clients, parts_of
from fedbench.partition.report import markdown_text
from fedbench.settings import parse

OVERLAPPING = scheme_of("overlapping")


@settings(deadline=None)
@given(st.lists(st.integers(2, 40), min_size=1, max_size=6), st.integers(1, 6), st.integers(0, 2**31), st.data())
def test_each_draw_is_half_of_its_part(sizes, draws, seed, data):
    order = data.draw(st.permutations(range(sum(sizes))))
    part = np.repeat(np.arange(len(sizes)), sizes)[order]
    scheme = OVERLAPPING.model_copy(update={"draws": draws})
    client, node = overlapping_clients(part, scheme, lambda p, i: rng(seed, p, i))
    assert np.bincount(client).tolist() == [size // 2 for size in sizes for _ in range(draws)]
    assert (part[node] == client // draws).all()
    assert (np.diff(client * part.size + node) > 0).all()


def test_draws_of_a_part_are_independent():
    client, node = overlapping_clients(np.zeros(60, dtype=int), OVERLAPPING, rng)
    held = [set(node[client == k].tolist()) for k in range(5)]
    shared = [len(a & b) for i, a in enumerate(held) for b in held[:i]]
    assert 0 < min(shared) < max(shared) < 30  # 15 expected
    assert 0 < 60 - len(set.union(*held)) < 10  # 2 expected


def test_overlapping_clients_are_halves_of_metis_parts(cora_file):
    dataset = NodeDataset.read(cora_file)
    parts = memberships(PartitionName("metis", 2), scheme_of("metis"), dataset)
    client, node = memberships(PartitionName("overlapping", 10), OVERLAPPING, dataset)
    for k in range(10):
        part = parts[1][parts[0] == k // 5]
        assert np.isin(node[client == k], part).all()
        assert (client == k).sum() == part.size // 2


@pytest.mark.parametrize(("clients", "sizes", "train"), [(10, 621, 90), (30, 207, 25), (50, 124, 10)])
def test_coras_overlapping_clients_are_of_the_papers_size(clients, sizes, train, cora_file, tmp_path):
    found = measure(built(f"overlapping-{clients}", cora_file, tmp_path / "p.npz"), NodeDataset.read(cora_file))
    assert abs(found.nodes.mean() - sizes) < 1
    assert found.nodes.max() - found.nodes.min() < 0.08 * sizes
    assert found.train.min() >= train
    if clients == 50:
        assert abs(2 * found.kept_edges.min() - 150) < 25
        assert abs(2 * found.kept_edges.max() - 350) < 50


def test_the_report_tells_memberships_from_nodes(cora_file, tmp_path):
    partition, dataset = built("overlapping-10", cora_file, tmp_path / "p.npz"), NodeDataset.read(cora_file)
    held = np.unique(partition.node).size
    text = markdown_text("overlapping-10", partition, dataset, measure(partition, dataset))
    assert f"{held:,} of 2,485 nodes in 10 clients, {partition.node.size:,} memberships; " in text


def test_clients_that_no_part_divides_are_refused():
    assert parts_of(30, 5) == 6
    with pytest.raises(DataError, match="12 is no multiple of 5") as caught:
        parts_of(12, 5)
    assert "10 or 15" in caught.value.remedy
    with pytest.raises(DataError, match="is no multiple") as caught:
        parts_of(3, 5)
    assert caught.value.remedy == "ask for 5 clients"


def test_a_part_too_small_to_halve_is_refused():
    with pytest.raises(DataError, match="a METIS part of 1 nodes"):
        overlapping_clients(np.array([0, 0, 1]), OVERLAPPING, rng)


def test_a_split_in_each_overlapping_client_is_refused():
    with pytest.raises(ConfigurationError, match="train in one client and test in another"):
        parse(OverlappingScheme, OVERLAPPING.model_dump() | {"split": {"scope": "client"}}, "test")
