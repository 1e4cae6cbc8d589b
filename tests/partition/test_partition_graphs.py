"""Graphs to clients: the published splits, the released code's deal, invariants, and measures by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split
from tasks_support import SCHEMES, rings

from fedbench.datasets.graph_group import joined, member_of_each
from fedbench.errors import DataError
from fedbench.partition.graphs.build import graph_partition_of
from fedbench.partition.graphs.check import check_graph_partition
from fedbench.partition.graphs.measures import graph_warnings, measure_graphs
from fedbench.partition.graphs.store import TEST, TRAIN, VAL, GraphPartition
from fedbench.partition.name import PartitionName


def of(dataset, clients: int, scheme: str = "graphs", seed: int = 0) -> GraphPartition:
    return graph_partition_of(PartitionName(scheme, clients, seed), SCHEMES[scheme], dataset)


def many(graphs: int, classes: int = 2, name: str = "rings"):
    return rings([3 + i % 3 for i in range(graphs)], [i * 7 % classes for i in range(graphs)], name=name)


@pytest.mark.parametrize("seed", [0, 5])
def test_the_split_is_two_calls_of_scikit_learn(seed):
    data = many(188, 3)
    found, state = of(data, 1, seed=seed), 123 + seed
    train, rest = train_test_split(list(range(188)), test_size=0.2, stratify=data.y, shuffle=True, random_state=state)
    val, test = train_test_split(
        rest, train_size=0.5, test_size=0.5, stratify=data.y[rest], shuffle=True, random_state=state
    )
    for split, expected in ((TRAIN, train), (VAL, val), (TEST, test)):
        assert found.graphs_of(0, split).tolist() == sorted(expected)


@pytest.mark.parametrize(("graphs", "clients", "seed"), [(1000, 10, 0), (160, 4, 0), (233, 3, 2)])
def test_chunks_are_the_released_ones(graphs, clients, seed):
    """The loop of GCFL's ``_randChunk``, on NumPy's global generator, put back as it was."""
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(123 + seed)  # noqa: NPY002
    size = min(50, graphs // clients)
    lists = [list(range(k * size, (k + 1) * size)) for k in range(clients)]
    for graph in range(clients * size, graphs):
        lists[np.random.randint(low=0, high=clients, size=1)[0]].append(graph)  # noqa: NPY002
    np.random.set_state(before)  # noqa: NPY002
    found = of(many(graphs), clients, seed=seed)
    assert [found.graphs_of(client).tolist() for client in range(clients)] == lists


@pytest.mark.parametrize("scheme", ["graphs", "graphs-random"])
@settings(max_examples=15, deadline=None)
@given(clients=st.sampled_from([2, 4, 8]), seed=st.integers(0, 10**6), size=st.integers(120, 400))
def test_invariants(scheme, clients, seed, size):
    data = joined("two", [many(size, 2, "one"), many(260, 3, "other")])
    found = of(data, clients, scheme, seed)
    assert (found.client.dtype, found.graph.dtype, found.split.dtype) == (np.int64, np.int64, np.int8)
    assert sorted(found.graph.tolist()) == list(range(size + 260))
    keys = list(zip(found.client.tolist(), found.graph.tolist(), strict=True))
    assert keys == sorted(keys)
    of_each = member_of_each(data)[found.graph]
    assert np.array_equal(of_each, found.client // (clients // 2))
    for client in range(clients):
        graphs = found.graphs_of(client)
        rest = -(-graphs.size // 5)
        assert found.graphs_of(client, TRAIN).size == graphs.size - rest
        assert found.graphs_of(client, TEST).size == -(-rest // 2)
        classes, train = data.y[graphs], data.y[found.graphs_of(client, TRAIN)]
        assert np.abs(np.bincount(train) - 0.8 * np.bincount(classes)).max() <= 1


def test_random_clients_are_even_and_differ_by_seed():
    one, other = (of(many(200), 8, "graphs-random", seed) for seed in (0, 1))
    assert np.bincount(one.client).tolist() == [25] * 8
    assert one.graph.tolist() != other.graph.tolist()


def test_another_seed_is_another_split_of_the_same_clients():
    data = joined("two", [many(150, name="one"), many(90, name="other")])
    one, other = of(data, 2), of(data, 2, seed=1)
    assert np.array_equal(one.client, other.client)
    assert one.split.tolist() != other.split.tolist()


def test_the_description_says_what_a_client_is():
    data = joined("two", [rings([3] * 40, [0, 1] * 20, 2, "one"), rings([4] * 60, [0, 1, 2] * 20, 5, "other")])
    meta = of(data, 4).meta
    assert meta["member"] == ["one", "one", "other", "other"]
    assert (meta["features"], meta["classes"]) == ([2, 2, 5, 5], [2, 2, 3, 3])
    assert (meta["train"], meta["val"], meta["test"]) == ([16, 16, 24, 24], [2, 2, 3, 3], [2, 2, 3, 3])


@pytest.mark.parametrize(("clients", "message"), [(3, "a multiple of 2"), (500, "at most 180"), (1, "a multiple of 2")])
def test_numbers_of_clients_that_data_sets_cannot_share_are_refused(clients, message):
    with pytest.raises(DataError, match=message):
        of(joined("two", [many(150, name="one"), many(90, name="other")]), clients)


def test_a_client_with_too_few_graphs_of_a_class_is_refused_by_name():
    with pytest.raises(DataError, match=r"client 1 \(rings\)"):
        of(rings([3] * 100, [0, 1] * 25 + [0] * 49 + [1]), 2)


def toy() -> tuple[GraphPartition, object]:
    data = rings([3, 1, 4, 3, 3, 5, 3], [0, 1, 0, 0, 1, 1, 0])
    arrays = ([0, 0, 0, 1, 1, 1, 1], [0, 2, 6, 1, 3, 4, 5], [0, 1, 2, 0, 1, 2, 2])
    return GraphPartition(*(np.array(values) for values in arrays), meta={"dataset": "rings", "clients": 2}), data


def test_measures_by_hand():
    found = measure_graphs(*toy())
    by_hand = {"graphs": [3, 4], "train": [1, 1], "val": [1, 1], "test": [1, 2], "nodes": [10, 12], "edges": [10, 11]}
    assert {name: found.columns()[name].tolist() for name in by_hand} == by_hand
    assert found.edgeless.tolist() == [0, 1]
    assert found.class_counts.tolist() == [[3, 0], [1, 3]]
    assert found.majority_test.tolist() == [1.0, 1.0]  # class 0 trains client 0, class 1 client 1
    assert found.label_entropy == pytest.approx([0, 2 - 0.75 * np.log2(3)])
    assert graph_warnings(found)[1] == "client 1: 2 test graphs, one is 50.0 points"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"graph": [0, 2, 6, 1, 3, 4, 4]}, "in no client, in several"),
        ({"graph": [0, 2, 7, 1, 3, 4, 5]}, "out of range"),
        ({"client": [0, 0, 0, 1, 1, 1, 2]}, "client or split number out of range"),
        ({"graph": [2, 0, 6, 1, 3, 4, 5]}, "out of order"),
        ({"split": [0, 1, 1, 0, 1, 2, 2]}, "client 0 without test graphs"),
        ({}, "a client with graphs of several data sets"),
    ],
)
def test_each_broken_invariant_is_named(change, message):
    partition, _ = toy()
    values = {name: getattr(partition, name) for name in ("client", "graph", "split")}
    broken = GraphPartition(**values | {name: np.array(v) for name, v in change.items()}, meta=partition.meta)
    of_other = np.array([0, 1, 0, 1, 1, 1, 0]) if change else np.zeros(7, dtype=np.int64) + (np.arange(7) > 3)
    with pytest.raises(DataError, match=message):
        check_graph_partition(broken, of_other)
    check_graph_partition(partition, np.array([0, 1, 0, 1, 1, 1, 0]))
