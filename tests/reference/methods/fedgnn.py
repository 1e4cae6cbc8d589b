"""FedGNN: clients' graphs with their outside neighbours, whose representations the holders sent; noisy gradients."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.nn import GCNConv

from fedbench import seeds
from fedbench.tasks.node.arrays import NodeProblem
from tests.reference.names import suite_name
from tests.reference.networks import PlainGCN
from tests.reference.plans import Plan, Settings, Shape, average, everything

Place = tuple[int, int]
"""A client, and a row of its graph."""


class Expanded(PlainGCN):
    """A network that is told what outside nodes' rows are after each layer; ``told[layer][row]``."""

    rows: list[int]
    told: list[dict[int, Tensor]]

    def put_in(self, layer: int, h: Tensor) -> Tensor:
        out = h.clone()
        for row in self.rows:
            out[row] = self.told[layer].get(row, torch.zeros_like(h[row]))
        return out

    def outputs(self, x: Tensor, edges: Tensor, keep: list[Tensor] | None = None, scale: float = 1.0) -> list[Tensor]:
        found: list[Tensor] = []
        for i, conv in enumerate(self.convs):
            x = torch.relu(conv(self.put_in(i - 1, x) if i else x, edges))
            found.append(x := x if keep is None else x * keep[i] * scale)
        return found

    def forward(self, x: Tensor, edges: Tensor, keep: list[Tensor] | None = None, scale: float = 1.0) -> Tensor:
        h = self.outputs(x, edges, keep, scale)[-1]
        if isinstance(self.readout, GCNConv):
            return self.readout(self.put_in(len(self.convs) - 1, h), edges)
        return self.readout(h)


def neighbourhoods(problem: NodeProblem) -> tuple[list[list[int]], list[list[int]], dict[int, Place]]:
    """Return every client's nodes, its outside neighbours, and who is asked for a node: its first holder."""
    members = [problem.partition["node"][problem.partition["client"] == k].tolist() for k in range(problem.clients)]
    asked: dict[int, Place] = {}
    for client in reversed(range(problem.clients)):
        asked |= {node: (client, row) for row, node in enumerate(members[client])}
    edges = list(zip(*problem.data["edges"].tolist(), strict=True))
    outside = [sorted({b for a, b in edges if a in own and b not in own and b in asked}) for own in map(set, members)]
    return members, outside, asked


def inputs(problem: NodeProblem, own: list[int], outside: list[int], dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Return features (zero outside) and edges, none of which joins two outside nodes."""
    rows = {node: row for row, node in enumerate(own + outside)}
    x = torch.zeros(len(rows), problem.width, dtype=dtype)
    for node in own:
        start, stop = problem.data["x_indptr"][node : node + 2]
        for place in range(start, stop):
            x[rows[node], int(problem.data["x_indices"][place])] = float(problem.data["x_data"][place])
    inner = set(own)
    pairs = [
        (rows[a], rows[b])
        for a, b in zip(*problem.data["edges"].tolist(), strict=True)
        if a in rows and b in rows and (a in inner or b in inner)
    ]
    return x, torch.tensor(pairs).T


def plan(settings: Settings, shape: Shape) -> Plan:
    problem: NodeProblem = shape["problem"]
    members, outside, asked = neighbourhoods(problem)
    exchanged = shape["layers"] - 1
    made: list[Expanded] = []
    rounds: list[int] = []

    def make(own: Shape) -> Expanded:
        module = Expanded(
            shape["features"], shape["classes"], shape["layers"], shape["width"], shape["readout"], shape["backbone"]
        )
        client = len(made)
        module.rows = [len(members[client]) + j for j in range(len(outside[client]))]
        module.told = [{} for _ in range(exchanged)]
        made.append(module)
        return module

    def corrected(module: nn.Module, client: int, round: int, epoch: int) -> None:
        if settings.clip is None:
            return
        for name, p in module.named_parameters():
            p.grad = p.grad.clamp(-settings.clip, settings.clip)
            if settings.noise:
                p.grad += noise_for(name, p, shape["seed"], client, round, epoch)

    def noise_for(name: str, p: Tensor, *at: int) -> Tensor:
        suite = suite_name(name)
        turned = suite.startswith("conv") and p.dim() == 2
        drawn = seeds.generator("fedgnn noise", *at, suite).laplace(0, settings.noise, p.T.shape if turned else p.shape)
        noise = torch.from_numpy(drawn).to(p.dtype)
        return noise.T if turned else noise

    def combine(modules: list[nn.Module]) -> Tensor:
        rounds.append(len(rounds) + 1)
        due = rounds[-1] >= settings.expanded_after
        if due and (settings.exchanged == "every_round" or rounds[-1] == settings.expanded_after):
            exchange()
        return average(modules)

    def exchange() -> None:
        with torch.no_grad():
            for module in made:
                module.eval()
            graphs = [
                inputs(problem, *nodes, made[0].readout.bias.dtype) for nodes in zip(members, outside, strict=True)
            ]
            found = [module.outputs(*graph) for module, graph in zip(made, graphs, strict=True)]
        for module, nodes in zip(made, outside, strict=True):
            holders = [asked[node] for node in nodes]
            module.told = [
                {row: found[k][layer][place] for row, (k, place) in zip(module.rows, holders, strict=True)}
                for layer in range(exchanged)
            ]

    return Plan(make, everything, combine, corrected=corrected)
