"""FedGNN's exchange: who sends which nodes' representations, what the third party holds, and where it is put in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace

import torch
from torch import Tensor

from fedbench.methods._expansion import ExpandedGraph
from fedbench.methods.exchange import REMADE, Cell
from fedbench.models.gnn import GNN
from fedbench.models.network import GraphBlock
from fedbench.models.parameters import Parameters
from fedbench.tasks.node.block import NodeBlock


@dataclass(frozen=True)
class ExpandedBlock(NodeBlock):
    """Packed expanded graphs; ``outside`` int64[m]: flat slots of outside nodes, ``received``: per layer [m, width]."""

    outside: Tensor = field(kw_only=True)


@dataclass(frozen=True)
class ExpandedGNN(GNN):
    """A graph network that sees, in place of what it would compute for outside nodes, what their holders sent.

    Received representations are constants: no gradient flows to whoever sent them.
    """

    def passed_on(self, block: GraphBlock, layer: int, h: Tensor) -> Tensor:
        """Return a layer's output with the received representations in the outside nodes' rows."""
        if not isinstance(block, ExpandedBlock):
            return h
        return h.flatten(0, 1).index_copy(0, block.outside, block.received[layer - 1]).view_as(h)

    def read_out(self, parameters: Parameters, block: GraphBlock, h: Tensor) -> Tensor:
        """Return logits; a convolution as readout sees the received representations too."""
        depth = len(self.model.hidden_widths)
        return super().read_out(parameters, block, self.passed_on(block, depth, h) if self.exchanged > depth - 1 else h)

    @property
    def exchanged(self) -> int:
        """Hidden layers whose output a further convolution takes in: all but the last convolution's."""
        return self.model.layers - 1

    def representations(self, parameters: Parameters, block: GraphBlock) -> list[Tensor]:
        """Return the output of those layers alone, without dropout, [clients, slots, width]."""
        widths = self.model.hidden_widths[: self.exchanged]
        model = self.model.model_copy(update={"layers": self.exchanged, "width": widths, "readout": "linear"})
        return replace(self, model=model).layers(parameters, block, None)


@dataclass
class ThirdParty:
    """What the third party knows and holds, and where the run stands.

    ``seeds``: run seeds. ``held``: the representations sent last, one a layer, [S, K, b, width], zero at first and
    behind a client's own b. ``sent`` int64[K, b]: the nodes each client sends (0 behind them), ``is_sent`` [K, b]: 1
    for these. ``own``, ``source``: per client the number of its own nodes, and for each outside node its row in
    ``held`` as [S, K * b, width]. ``round`` from 1; ``steps``: local steps of the round so far, one count a client.
    """

    seeds: tuple[int, ...] = field(metadata=REMADE)
    held: list[Tensor]
    sent: Tensor
    is_sent: Tensor
    own: list[int]
    source: list[Tensor]
    round: int
    steps: list[int]


def third_party(cell: Cell, graphs: Sequence[ExpandedGraph], widths: Sequence[int]) -> ThirdParty:
    """Return the exchange as it stands before round 1: nothing has been sent.

    Args:
        cell: sizes, seeds, device.
        graphs: the clients' expanded graphs.
        widths: of the layers whose representations are exchanged.
    """
    most = max(len(graph.sent) for graph in graphs)
    sent = torch.zeros(cell.clients, most, dtype=torch.int64)
    for row, graph in zip(sent, graphs, strict=True):
        row[: len(graph.sent)] = torch.from_numpy(graph.sent)
    lengths = torch.tensor([len(graph.sent) for graph in graphs])
    is_sent = torch.arange(most) < lengths[:, None]
    shape = (len(cell.seeds), cell.clients, most)
    held = [torch.zeros(*shape, width, dtype=cell.dtype, device=cell.device) for width in widths]
    source = [torch.from_numpy(graph.sender * most + graph.place).to(cell.device) for graph in graphs]
    own = [graph.own for graph in graphs]
    return ThirdParty(
        cell.seeds, held, sent.to(cell.device), is_sent.to(cell.device, cell.dtype), own, source, 1, [0] * cell.clients
    )


def with_received(block: NodeBlock, clients: range, party: ThirdParty) -> ExpandedBlock:
    """Return a pack's data with what the third party holds for its clients' outside nodes."""
    source = torch.cat([party.source[client] for client in clients])
    received = tuple(held.flatten(1, 2)[:, source].flatten(0, 1) for held in party.held)
    values = {f.name: getattr(block, f.name) for f in fields(NodeBlock)}
    return ExpandedBlock(**values | {"received": received, "outside": _outside_slots(block, clients, party)})


def _outside_slots(block: NodeBlock, clients: range, party: ThirdParty) -> Tensor:
    """Return the flat slots of all outside nodes of a pack, in the order of ``received``: by seed, client, node."""
    own, source = party.own, party.source
    parts = [place * block.slots + own[c] + torch.arange(len(source[c])) for place, c in enumerate(clients)]
    of_seed = torch.cat(parts).to(block.labels.device)
    seeds = torch.arange(block.clients // len(clients), device=of_seed.device)
    return (seeds[:, None] * len(clients) * block.slots + of_seed).flatten()


def chosen(representations: Tensor, clients: range, party: ThirdParty) -> Tensor:
    """Return what clients send of a layer's representations [S * k, slots, width]: [S, k, b, width], zero-padded."""
    by_client = representations.unflatten(0, (-1, len(clients)))
    rows = party.sent[clients.start : clients.stop]
    picked = by_client[:, torch.arange(len(clients), device=rows.device)[:, None], rows]
    return picked * party.is_sent[clients.start : clients.stop, :, None]
