"""FedSage's owners from a graph: communities, owners of Cora, and what is refused."""

import networkx as nx
import pytest
from partition_support import built, grid, scheme_of

from fedbench.datasets.node import NodeDataset
from fedbench.errors import DataError
from fedbench.partition.louvain import communities, louvain_clients
from fedbench.partition.measures import measure

LOUVAIN = scheme_of("louvain")


def test_owners_too_small_for_delta_are_refused():
    with pytest.raises(DataError, match="16 nodes an owner") as caught:
        louvain_clients(grid(8), 4, LOUVAIN, 0)
    assert "more than 20" in caught.value.allowed


@pytest.mark.parametrize("owners", [3, 5, 10])
def test_coras_owners(owners, cora_file, tmp_path):
    dataset = NodeDataset.read(cora_file)
    found = measure(built(f"louvain-{owners}", cora_file, tmp_path / "p.npz"), dataset)
    assert found.nodes.max() < dataset.nodes // owners + 20 + 2 * dataset.classes
    assert found.class_counts.min() >= 2
    assert found.kept_edges.sum() > 0.75 * 5069  # communities: at random it would be a tenth to a third


def test_communities_are_networkxs_and_follow_the_seed(cora_file):
    dataset = NodeDataset.read(cora_file)
    groups = communities(dataset, 1.0, 7)
    graph = nx.Graph(dataset.edges.T.tolist())
    assert nx.community.is_partition(graph, [set(group.tolist()) for group in groups])
    assert nx.community.modularity(graph, [set(group.tolist()) for group in groups]) > 0.8
    assert [group[0] for group in groups] == sorted(group[0] for group in groups)
    assert {tuple(group) for group in groups} != {tuple(group) for group in communities(dataset, 1.0, 8)}
    assert len(communities(dataset, 5.0, 7)) > len(groups)
