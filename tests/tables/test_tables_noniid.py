"""xi = JSD + MMD against SciPy's jensenshannon and scikit-learn's kernels, pair by pair; and the table made of it."""

import csv
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import jensenshannon, pdist
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from fedbench.configuration.suite import files_of_suite, load_suite, runs_of_suite
from fedbench.configuration.table_parts import FeatureTerm, LabelTerm, Reading
from fedbench.datasets.node import NodeDataset
from fedbench.errors import DataError
from fedbench.partition import noniid_features
from fedbench.partition.noniid import Differences, read_all
from fedbench.partition.noniid_features import gamma_of, kernel_sums
from fedbench.partition.noniid_labels import mean_divergence
from fedbench.partition.store import Partition
from fedbench.records.check import Present
from fedbench.records.pack import open_records
from fedbench.tables.build import write_table

CLIENTS = [np.arange(0, 7), np.arange(5, 17), np.arange(17, 30)]  # the first two share two nodes
BASES = {"2": 2, "e": None}
KERNELS = {"linear": lambda x, y, gamma: linear_kernel(x, y), "rbf": rbf_kernel}


def dataset_of(seed=0, nodes=30, features=12, classes=4):
    rng = np.random.default_rng(seed)
    x = sparse.random(nodes, features, density=0.4, format="csr", random_state=seed, dtype=np.float32)
    y = rng.integers(0, classes, nodes)
    meta = {"dataset": "cora", "task": "node", "nodes": nodes, "classes": classes, "features": features, "edges": 0}
    empty = np.zeros((2, 0), np.int64)
    arrays = (x.indptr.astype(np.int64), x.indices.astype(np.int32), x.data, np.array(x.shape), empty, y)
    return NodeDataset(*arrays, np.arange(nodes), meta=meta)


def partition_of(clients=CLIENTS):
    client = np.repeat(np.arange(len(clients)), [len(nodes) for nodes in clients])
    node = np.concatenate(clients)
    return Partition(client, node, np.zeros(len(node), np.int8), meta={"clients": len(clients)})


def dense(dataset):
    return sparse.csr_matrix((dataset.x_data, dataset.x_indices, dataset.x_indptr), tuple(dataset.x_shape)).toarray()


def read(labels=None, features=None, dataset=None, partition=None):
    reading = Reading(name="r", label="R", labels=labels, features=features)
    return Differences([partition or partition_of()], dataset or dataset_of()).read(reading)[0]


def slow_mmd(x, y, kernel, gamma, squared):
    value = (KERNELS[kernel](a, b, gamma).mean() for a, b in ((x, x), (y, y), (x, y)))
    xx, yy, xy = value
    square = max(xx + yy - 2 * xy, 0)
    return square if squared else np.sqrt(square)


@pytest.mark.parametrize("root", [False, True])
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("against", ["pairs", "whole"])
def test_divergence_agrees_with_scipy(against, base, root):
    dataset = dataset_of()
    counts = [np.bincount(dataset.y[nodes], minlength=4) for nodes in CLIENTS]
    compared = {"pairs": list(combinations(counts, 2)), "whole": [(mine, sum(counts)) for mine in counts]}[against]
    distances = np.array([jensenshannon(p, q, BASES[base]) for p, q in compared])
    expected = (distances if root else distances**2).mean()
    assert read(labels=LabelTerm(against=against, base=base, root=root)) == pytest.approx(expected, rel=1e-12)


def test_divergence_by_hand():
    # Disjoint labels differ by one bit, equal ones by none: pairs 1, 0, 1.
    counts = np.array([[3, 0], [0, 5], [8, 0]])
    assert mean_divergence(counts, LabelTerm()) == pytest.approx(2 / 3)
    assert mean_divergence(counts, LabelTerm(base="e")) == pytest.approx(2 / 3 * np.log(2))


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize(
    ("kernel", "bandwidth"), [("linear", 1.0), ("rbf", 0.8), ("rbf", "features"), ("rbf", "median")]
)
@pytest.mark.parametrize("against", ["pairs", "whole"])
def test_discrepancy_agrees_with_scikit_learn(against, kernel, bandwidth, squared, monkeypatch):
    monkeypatch.setattr(noniid_features, "CELLS", 200)  # blocks of 6 rows
    dataset = dataset_of()
    x = dense(dataset).astype(float)
    width = {"features": np.sqrt(12 / 2), "median": np.median(pdist(x))}.get(bandwidth, bandwidth)
    parts = [x[nodes] for nodes in CLIENTS]
    compared = {"pairs": list(combinations(parts, 2)), "whole": [(mine, np.concatenate(parts)) for mine in parts]}[
        against
    ]
    expected = np.mean([slow_mmd(a, b, kernel, 1 / (2 * width**2), squared) for a, b in compared])
    term = FeatureTerm(against=against, kernel=kernel, bandwidth=bandwidth, squared=squared)
    assert read(features=term, dataset=dataset) == pytest.approx(expected, rel=1e-9)


def test_linear_discrepancy_is_the_distance_of_means():
    x = dense(dataset_of()).astype(float)
    means = [x[nodes].mean(axis=0) for nodes in CLIENTS]
    expected = np.mean([np.linalg.norm(a - b) for a, b in combinations(means, 2)])
    assert read(features=FeatureTerm(kernel="linear", squared=False)) == pytest.approx(expected)


def test_terms_are_added():
    labels, features = LabelTerm(), FeatureTerm()
    assert read(labels, features) == pytest.approx(read(labels) + read(features=features))


def test_wide_features_stay_sparse_and_give_the_same(monkeypatch):
    quick = read(features=FeatureTerm())
    monkeypatch.setattr(noniid_features, "DENSE_CELLS", 0)
    assert read(features=FeatureTerm()) == pytest.approx(quick, rel=1e-10)


def test_several_partitions_at_once_give_what_each_gives_alone():
    other = partition_of([np.arange(0, 15), np.arange(15, 30)])
    readings = [Reading(name="a", label="A", features=FeatureTerm()), Reading(name="b", label="B", labels=LabelTerm())]
    together = read_all([partition_of(), other], dataset_of(), readings)
    for place, partition in enumerate((partition_of(), other)):
        alone = read_all([partition], dataset_of(), readings)
        assert [together[name][place] for name in "ab"] == pytest.approx([alone[name][0] for name in "ab"], rel=1e-9)


def test_alike_clients_do_not_differ():
    nodes = np.arange(30)
    alike = partition_of([nodes, nodes])
    assert read(LabelTerm(), FeatureTerm(), partition=alike) == pytest.approx(0, abs=1e-12)


def test_a_subsample_of_all_nodes_is_all_nodes_and_a_smaller_one_is_not():
    whole = read(features=FeatureTerm())
    assert read(features=FeatureTerm(most_nodes=13)) == whole
    assert read(features=FeatureTerm(most_nodes=4)) != whole


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 6))
def test_divergence_in_bits_lies_between_0_and_1(seed, clients):
    counts = np.random.default_rng(seed).integers(0, 5, (clients, 3)) + np.eye(clients, 3, dtype=int)
    counts[:, 0] += counts.sum(axis=1) == 0
    assert 0 <= mean_divergence(counts, LabelTerm()) <= 1 + 1e-12


def test_equal_features_have_no_median_bandwidth():
    with pytest.raises(DataError, match="bandwidth"):
        gamma_of(sparse.csr_matrix(np.ones((5, 2))), FeatureTerm(), np.random.default_rng(0))


def test_kernel_sums_of_clients_add_up_to_the_sum_over_all():
    x = sparse.csr_matrix(dense(dataset_of()).astype(float))
    members = sparse.csr_matrix(np.repeat(np.eye(3), 10, axis=1))
    assert kernel_sums(x, members, 0.7).sum() == pytest.approx(rbf_kernel(x, x, 0.7).sum())


NONIID = {
    "title": "Xi",
    "caption": "How unlike.",
    "kind": "noniid",
    "datasets": ["cora"],
    "partitions": ["metis-3"],
    "metric": {"name": "noniid", "split": "none", "scale": 1, "unit": "xi", "decimals": 3},
    "published": {"file": "xi.csv", "paper": "Toy", "table": "Xi"},
    "reproduced_within": 0.01,
    "readings": [
        {"name": "jsd", "label": "JSD", "labels": {"base": "2"}, "published": "(partition)"},
        {"name": "mmd", "label": "MMD", "features": {"kernel": "linear"}, "published": "(partition)"},
    ],
}


@pytest.fixture
def described(world):
    """A world with the table `xi` of two readings; no records."""
    jsd = read(labels=LabelTerm())
    text = "paper,table,dataset,partition,clients,method,metric,mean,std,source\n"
    (world.configs / "published" / "xi.csv").write_text(
        f"{text}Toy,Xi,Cora,METIS disjoint,3,(partition),xi,{jsd + 0.005:.4f},,made up\n"
    )
    names = {"datasets": {"cora": "Cora"}, "partitions": {"metis": "METIS disjoint"}, "metrics": {"noniid": "xi"}}
    world.configure("published", "names", names)
    world.suite(xi=NONIID)
    dataset_of().write(world.results / "datasets" / "cora.npz")
    partition_of().write(world.results / "partitions" / "cora" / "metis-3.npz")
    return world


def build(world):
    """Build the table without the command line; return its rows by method, and its Markdown."""
    suite = load_suite("s", world.configs)
    present = Present(world.configs, world.results)
    out = world.root / "tables"
    write_table("xi", suite, world.configs, open_records(world.records), present, out, results=world.results)
    rows = {row["method"]: row for row in csv.DictReader((out / "xi.csv").read_text().splitlines())}
    return rows, (out / "xi.md").read_text()


def test_table_of_readings(described):
    rows, text = build(described)
    assert float(rows["jsd"]["mean"]) == pytest.approx(read(labels=LabelTerm()), abs=1e-4)
    assert float(rows["mmd"]["mean"]) == pytest.approx(read(features=FeatureTerm(kernel="linear")), abs=1e-4)
    assert (rows["jsd"]["std"], rows["jsd"]["n_seeds"], rows["jsd"]["clients"]) == ("", "0", "3")
    assert rows["jsd"]["records"].startswith("partitions/cora/metis-3.npz@")
    assert rows["jsd"]["verdict"] == "reproduced"
    assert rows["mmd"]["verdict"] == f"off by {float(rows['mmd']['difference']):+.3f}"
    assert "| Reading | Cora, K = 3 |" in text
    assert "closest reading first: JSD 0.005; MMD" in text


def test_a_partition_of_a_data_sets_own_is_a_column(described):
    described.suite(xi={**NONIID, "partitions": [], "partition_of": {"cora": "metis-3"}})
    rows, _ = build(described)
    assert rows["jsd"]["partition"] == "metis-3"


def test_a_table_of_partitions_asks_for_no_runs(described):
    suite = load_suite("s", described.configs)
    assert runs_of_suite(suite, described.configs, also=["local"]) == []
    assert files_of_suite(suite, described.configs) == [("cora", "metis-3")]


def test_a_missing_partition_is_named(described):
    (described.results / "partitions" / "cora" / "metis-3.npz").unlink()
    with pytest.raises(DataError, match=r"metis-3\.npz"):
        build(described)
