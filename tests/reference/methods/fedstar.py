"""FedStar: [x | s] written out, encodings from dense matrix powers of each batch, PyG's convolutions."""

from __future__ import annotations

import re

import torch
from torch import Tensor, nn
from torch_geometric.nn import GCNConv, GINConv, global_add_pool

from tests.reference.federation import Seen
from tests.reference.plans import Plan, Settings, Shape, sizes

TASKS = ("graph",)
CASES = ({"walk_steps": 3, "degrees": 2}, {"weights": "uniform"})


def plan(settings: Settings, shape: Shape) -> Plan:
    def combine(seen: Seen) -> Tensor:
        size = torch.tensor(sizes(settings.weights, seen.graphs), dtype=torch.float64)
        return (size / size.sum()).expand(len(size), len(size))

    shares = settings.shared == "structure"
    return Plan(
        lambda own: TwoChannels(settings, own),
        lambda name: shares and name.startswith("s_"),
        combine_seen=combine if shares else None,
    )


class TwoChannels(nn.Module):
    """The released model: everything of the structure channel has a name that begins with ``s_``."""

    def __init__(self, settings: Settings, shape: Shape) -> None:
        super().__init__()
        self.settings, width = settings, shape["width"]
        self.pre = nn.Linear(shape["features"], width)
        encodings = {"rw": settings.walk_steps, "dg": settings.degrees}
        self.s_input = nn.Linear(sum(n for kind, n in encodings.items() if kind in settings.encoding), width)
        self.convs, self.s_convs = nn.ModuleList(), nn.ModuleList()
        for _ in range(shape["layers"]):
            mlp = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, width))
            self.convs.append(GINConv(mlp))
            self.s_convs.append(GCNConv(width, width))
        self.both = nn.Linear(2 * width, width)
        self.post = nn.Linear(width, width)
        self.classifier = nn.Linear(width, shape["classes"])

    def forward(
        self, x: Tensor, edges: Tensor, graph: Tensor, keep: list[Tensor] | None = None, scale: float = 1.0
    ) -> Tensor:
        s = self.s_input(encodings(edges, len(x), self.settings).to(x.dtype))
        x = self.pre(x)
        for layer, (conv, s_conv) in enumerate(zip(self.convs, self.s_convs, strict=True)):
            x = torch.relu(conv(torch.cat([x, s], dim=1), edges))
            x = x if keep is None else x * keep[layer] * scale
            s = torch.tanh(s_conv(s, edges))
        x = global_add_pool(self.both(torch.cat([x, s], dim=1)), graph)
        x = torch.relu(self.post(x))
        x = x if keep is None else x * keep[-1] * scale
        return self.classifier(x)

    @staticmethod
    def suite_name(name: str) -> str:
        name = re.sub(r"^convs\.(\d)\.nn\.0", lambda m: f"conv{int(m[1]) + 1}.first", name)
        name = re.sub(r"^convs\.(\d)\.nn\.2", lambda m: f"conv{int(m[1]) + 1}.second", name)
        name = re.sub(r"^s_convs\.(\d)\.(lin\.)?", lambda m: f"structure.conv{int(m[1]) + 1}.", name)
        for plain, suite in {"pre.": "input.", "s_input.": "structure.input.", "both.": "joined."}.items():
            name = name.replace(plain, suite) if name.startswith(plain) else name
        return name


def encodings(edges: Tensor, nodes: int, settings: Settings) -> Tensor:
    """Return RWSE and DSE, node by node, from powers of the dense A D^-1."""
    a = torch.zeros(nodes, nodes, dtype=torch.float64)
    a[edges[0], edges[1]] = 1
    degree = a.sum(0)
    walk = a / degree.clamp(min=1)
    power, found = torch.eye(nodes, dtype=torch.float64), []
    for _ in range(settings.walk_steps):
        power = power @ walk
        found.append(power.diagonal())
    degrees = torch.zeros(nodes, settings.degrees, dtype=torch.float64)
    for node in range(nodes):
        degrees[node, min(max(int(degree[node]), 1), settings.degrees) - 1] = 1
    parts = {"rw": [torch.stack(found, dim=1)], "dg": [degrees]}
    return torch.cat([part for kind in parts if kind in settings.encoding for part in parts[kind]], dim=1)
