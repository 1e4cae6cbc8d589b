"""The clients' networks as ordinary modules on PyG's convolutions."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch_geometric.nn import GCNConv, GINConv, SAGEConv, global_add_pool


class PlainGCN(nn.Module):
    """Two or more GCNConv layers; the readout is a linear layer or a last convolution."""

    def __init__(
        self, features: int, classes: int, layers: int, width: int, readout: str = "linear", backbone: str = "gcn"
    ) -> None:
        super().__init__()
        hidden = layers if readout == "linear" else layers - 1
        widths = [features] + [width] * hidden
        kind = {"gcn": GCNConv, "sage": SAGEConv}[backbone]
        self.convs = nn.ModuleList(kind(a, b) for a, b in pairwise(widths))
        self.readout = self.make_readout(widths[-1], classes, readout)

    def make_readout(self, incoming: int, classes: int, kind: str) -> nn.Module:
        return nn.Linear(incoming, classes) if kind == "linear" else GCNConv(incoming, classes)

    def hidden(self, x: Tensor, edges: Tensor, keep: list[Tensor] | None, scale: float) -> Tensor:
        for i, conv in enumerate(self.convs):
            x = torch.relu(conv(x, edges))
            if keep is not None:
                x = x * keep[i] * scale
        return x

    def forward(self, x: Tensor, edges: Tensor, keep: list[Tensor] | None = None, scale: float = 1.0) -> Tensor:
        h = self.hidden(x, edges, keep, scale)
        return self.readout(h, edges) if isinstance(self.readout, GCNConv) else self.readout(h)


class PlainGIN(nn.Module):
    """Input layer, GIN convolutions, sum over a graph's nodes, post layer, classifier."""

    def __init__(self, features: int, classes: int, layers: int, width: int) -> None:
        super().__init__()
        self.input = nn.Linear(features, width)
        mlps = [nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)) for _ in range(layers)]
        self.convs = nn.ModuleList(GINConv(mlp) for mlp in mlps)
        self.post = nn.Linear(width, width)
        self.classifier = nn.Linear(width, classes)

    def forward(
        self, x: Tensor, edges: Tensor, graph: Tensor, keep: list[Tensor] | None = None, scale: float = 1.0
    ) -> Tensor:
        x = self.input(x)
        for layer, conv in enumerate(self.convs):
            x = torch.relu(conv(x, edges))
            x = x if keep is None else x * keep[layer] * scale
        x = torch.relu(self.post(global_add_pool(x, graph)))
        x = x if keep is None else x * keep[-1] * scale
        return self.classifier(x)


class Masked(nn.Module):
    """Any plain network with a trainable mask on each weight matrix; biases and vectors have none."""

    def __init__(self, inner: nn.Module, threshold: float = 0.0) -> None:
        super().__init__()
        self.inner, self.threshold = inner, threshold
        matrices = {name: p for name, p in inner.named_parameters() if p.dim() == 2}
        self.masks = nn.ParameterDict(
            {n.replace(".", "_"): nn.Parameter(torch.ones_like(p)) for n, p in matrices.items()}
        )

    def weights(self) -> dict[str, Tensor]:
        result = {}
        for name, p in self.inner.named_parameters():
            mask = self.masks[name.replace(".", "_")] if p.dim() == 2 else None
            if mask is not None and not self.training:
                mask = torch.where(mask.abs() < self.threshold, 0.0, mask)
            result[name] = p if mask is None else p * mask
        return result

    def forward(self, *inputs: object) -> Tensor:
        return functional_call(self.inner, self.weights(), inputs)


class PlainFedAux(PlainGCN):
    """FedAux's client: full N x N Gaussian kernel over the scores along the APV."""

    def __init__(
        self, features: int, classes: int, layers: int, width: int, sigma: float, score: str, backbone: str = "gcn"
    ) -> None:
        super().__init__(features, classes, layers, width, "linear", backbone)
        self.apv = nn.Parameter(torch.zeros(width))
        self.sigma, self.score = sigma, score

    def make_readout(self, incoming: int, classes: int, kind: str) -> nn.Module:
        return nn.Linear(2 * incoming, classes)

    def scores(self, h: Tensor) -> Tensor:
        if self.score == "cosine":
            return torch.cosine_similarity(h, self.apv[None], dim=1)
        return (h / h.norm(dim=1).max()) @ self.apv

    def forward(self, x: Tensor, edges: Tensor, keep: list[Tensor] | None = None, scale: float = 1.0) -> Tensor:
        h = self.hidden(x, edges, keep, scale)
        return self.readout(torch.cat([h, self.gathered(h)], dim=1))

    def gathered(self, h: Tensor) -> Tensor:
        s = self.scores(h)
        kernel = torch.exp(-((s[:, None] - s[None, :]) ** 2) / self.sigma**2)
        return kernel @ h / kernel.sum(1, keepdim=True)


class PlainHardSort(PlainFedAux):
    """FedAux's ablation: nodes in the order of their scores, torch's Conv1d over that line, and back."""

    def __init__(self, *shape: object, width: int, score: str, size: int) -> None:
        super().__init__(*shape, width, 1.0, score)  # type: ignore[arg-type]
        self.line = nn.Linear(size * width, width)
        self.size = size

    def gathered(self, h: Tensor) -> Tensor:
        order = torch.argsort(self.scores(h).detach(), stable=True)
        kernel = self.line.weight.view(-1, self.size, h.shape[1]).transpose(1, 2)
        out = nn.functional.conv1d(h[order].T[None], kernel, self.line.bias, padding=self.size // 2)[0].T
        return torch.zeros_like(h).index_copy(0, order, out)
