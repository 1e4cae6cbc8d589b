"""Each invariant is named when it is broken; overlapping clients are allowed where they are asked for."""

import numpy as np
import pytest

from fedbench.errors import DataError
from fedbench.files import write_arrays
from fedbench.partition.check import check_partition
from fedbench.partition.cut import kept_edges, kept_per_client, missing_per_client
from fedbench.partition.store import Partition

META = {"dataset": "d", "clients": 2}


def partition(client, node, split=None, clients=2):
    split = np.zeros(len(node), np.int8) if split is None else np.array(split, np.int8)
    return Partition(np.array(client), np.array(node), split, meta={**META, "clients": clients})


@pytest.mark.parametrize(
    ("client", "node", "split", "message"),
    [
        ([0, 1], [0, 1], None, "1 nodes in no client"),
        ([0, 0, 1, 1], [0, 1, 1, 2], None, "1 nodes in more than one client"),
        ([0, 0, 0], [0, 1, 2], None, "no nodes in client 1"),
        ([0, 1, 1], [0, 2, 1], None, "out of order"),
        ([0, 0, 1, 1], [0, 0, 1, 2], None, "given twice"),
        ([0, 1, 2], [0, 1, 2], None, "out of range"),
        ([0, 1, 1], [0, 1, 3], None, "out of range"),
        ([0, 1, 1], [0, 1, -1], None, "out of range"),
        ([0, 1, 1], [0, 1, 2], [0, 4, 0], "out of range"),
    ],
)
def test_a_broken_invariant_is_named(client, node, split, message):
    with pytest.raises(DataError, match=message):
        check_partition(partition(client, node, split), nodes=3)


def test_overlap_and_nodes_in_no_client_are_allowed_where_they_are_asked_for():
    check_partition(partition([0, 0, 1, 1], [0, 1, 1, 2], [0, 1, 1, 2]), nodes=4, disjoint=False)
    check_partition(partition([0, 0, 1], [0, 1, 2]), nodes=3)


@pytest.mark.parametrize(
    ("client", "node", "split", "message"),
    [
        ([0, 0, 1, 1], [0, 1, 1, 2], [0, 0, 2, 0], "1 nodes with more than one role"),
        ([0, 0, 1, 1], [0, 1, 0, 1], [3, 0, 0, 1], "2 nodes with more than one role"),
        ([0, 0, 0], [0, 1, 2], None, "no nodes in client 1"),
        ([0, 0, 0, 1], [0, 1, 1, 2], None, "given twice"),
    ],
)
def test_overlapping_clients_keep_the_other_invariants(client, node, split, message):
    with pytest.raises(DataError, match=message):
        check_partition(partition(client, node, split), nodes=3, disjoint=False)


def test_edges_of_overlapping_clients():
    edges = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])  # a path of three nodes
    both = partition([0, 0, 1, 1, 1], [0, 1, 0, 1, 2])
    assert kept_per_client(both, edges, 3).tolist() == [1, 2]
    assert missing_per_client(both, edges, 3).tolist() == [1, 0]
    assert kept_edges(both, edges, 3) == 2


def test_a_partition_file_reads_back(tmp_path):
    partition([0, 0, 1], [0, 2, 1], [0, 1, 2]).write(tmp_path / "p.npz")
    read = Partition.read(tmp_path / "p.npz")
    assert read.nodes_of(0).tolist() == [0, 2]
    assert read.nodes_of(0, 1).tolist() == [2]
    assert len(read.digest) == 64


def test_another_file_is_not_a_partition(tmp_path):
    write_arrays(tmp_path / "d.npz", {"edges": np.zeros(1)}, {})
    with pytest.raises(DataError, match="arrays edges"):
        Partition.read(tmp_path / "d.npz")
    (tmp_path / "t.npz").write_bytes(b"PK\x03\x04")
    with pytest.raises(DataError, match="written by fedbench"):
        Partition.read(tmp_path / "t.npz")
