"""One client from impairing to mending."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch

from fedbench.kernels.sparse import SparseMatrix
from fedbench.neighgen.draws import Draws, Phase
from fedbench.neighgen.exchange import sent_for
from fedbench.neighgen.federation import Federation
from fedbench.neighgen.impair import impair
from fedbench.neighgen.network import NeighGen, declare, places, start, whole
from fedbench.neighgen.operators import row_normalised
from fedbench.neighgen.problem import Problem, problem
from fedbench.neighgen.training import train_federated, train_locally
from fedbench.tasks.node.arrays import ClientGraph


@dataclass(frozen=True)
class ClientResult:
    """What a client generated, the bytes of its messages by what they carry, and what is worth reporting.

    ``owners`` int64[g]: the node that each generated neighbour belongs to; ``generated`` [g, width]: features.
    """

    owners: np.ndarray
    generated: np.ndarray
    sent: dict[str, int]
    diagnostics: dict[str, Any]


def mend_client(all_clients: Federation, client: int) -> ClientResult:
    """Train a client's NeighGen and generate its neighbours; the parameters don't outlive the call."""
    own = all_clients.settings
    task = _problem(all_clients, client)
    net = _network(all_clients, client)
    draw = partial(_draws, all_clients, client)
    report: dict[str, Any] = {"hidden": all_clients.graphs[client].size - task.impaired.size}
    report["local"] = train_locally(net, task, draw)
    exchanged = 0
    if own.federated:
        others = all_clients.others(client, task.impaired.size)
        report["federated"], exchanged = train_federated(net, task, others, all_clients.clients, draw)
    owners, generated = _generate(net, task, all_clients.graphs[client], draw(Phase.MENDING, 0))
    report["generated"] = len(owners)
    return ClientResult(
        owners,
        generated,
        sent_for(exchanged, net.parameters, all_clients.clients - 1, own),
        report,
    )


def _problem(all_clients: Federation, client: int) -> Problem:
    graph, own = all_clients.graphs[client], all_clients.settings
    return problem(graph, all_clients.features[client], impair(graph, own, all_clients.seed, client), own)


def _network(all_clients: Federation, client: int) -> NeighGen:
    squares = all_clients.features[client].squares
    width = all_clients.features[client].matrix.shape[1]
    declared = declare(width, all_clients.classes, all_clients.settings)
    parameters = start(declared, all_clients.seed, client, squares.dtype, squares.device)
    return NeighGen(parameters, all_clients.settings)


def _draws(all_clients: Federation, client: int, phase: Phase, epoch: int) -> Draws:
    squares = all_clients.features[client].squares
    dropout = all_clients.settings.dropout
    return Draws(all_clients.seed, client, phase, epoch, dropout, squares.dtype, squares.device)


@torch.no_grad()
def _generate(net: NeighGen, task: Problem, graph: ClientGraph, draws: Draws) -> tuple[np.ndarray, np.ndarray]:
    """Return the generated neighbours' owners in the client's numbers, and their features; nothing is dropped."""
    seen, operator, numbers = _seen(net, task, graph)
    z = net.encode(seen, operator, None)
    counts = whole(net.count(z), net.settings)
    generated = net.generate(z[counts > 0], counts[counts > 0], draws, drop=False)
    owners = places(counts, net.settings.predicted_neighbours).cpu().numpy()
    return numbers[owners], generated.cpu().numpy()


def _seen(net: NeighGen, task: Problem, graph: ClientGraph) -> tuple[SparseMatrix, SparseMatrix, np.ndarray]:
    """Return features, operator and node numbers of the graph that the encoder sees when mending."""
    if net.settings.mended_nodes == "kept":
        return task.kept, task.graph, task.impaired.kept
    squares = task.own.squares
    whole_graph = row_normalised(graph.edges, graph.size, squares.dtype, squares.device)
    return task.own.matrix, whole_graph, np.arange(graph.size)
