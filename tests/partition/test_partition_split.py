"""The split in each client beside the global one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from partition_support import built, rng

from fedbench.datasets.node import NodeDataset
from fedbench.errors import ConfigurationError
from fedbench.partition.kinds import SplitSettings
from fedbench.partition.measures import measure
from fedbench.partition.split import per_client_split
from fedbench.settings import parse


def test_the_clients_of_metis_per_client_are_those_of_metis(cora_file, tmp_path):
    one, other = (built(f"{name}-10", cora_file, tmp_path / "p.npz") for name in ("metis", "metis-per-client"))
    assert np.array_equal(one.client, other.client)
    assert np.array_equal(one.node, other.node)
    assert not np.array_equal(one.split, other.split)
    train = measure(other, NodeDataset.read(cora_file))
    assert train.train.tolist() == [round(0.2 * n) for n in train.nodes.tolist()]


@given(st.lists(st.integers(1, 30), min_size=1, max_size=6), st.integers(0, 2**31))
def test_each_clients_split_is_its_own(sizes, seed):
    client, shares = np.repeat(np.arange(len(sizes)), sizes), SplitSettings(scope="client")
    split = per_client_split(client, shares, lambda k: rng(seed, k))
    for number, nodes in enumerate(sizes):
        mine = split[client == number]
        assert (mine == 0).sum() == round(0.2 * nodes)
        assert (mine == 2).sum() == min(round(0.4 * nodes), nodes - round(0.2 * nodes))
    fewer = per_client_split(client[: sizes[0]], shares, lambda k: rng(seed, k))
    assert np.array_equal(fewer, split[: sizes[0]])


def test_clients_of_equal_size_draw_different_splits():
    split = per_client_split(np.repeat([0, 1], 30), SplitSettings(scope="client"), lambda k: rng(0, k))
    assert split[:30].tolist() != split[30:].tolist()


def test_a_global_scope_is_not_written_down():
    assert "scope" not in SplitSettings().model_dump(mode="json")
    assert SplitSettings(scope="client").model_dump(mode="json")["scope"] == "client"
    with pytest.raises(ConfigurationError, match="scope"):
        parse(SplitSettings, {"scope": "clients"}, "test")
