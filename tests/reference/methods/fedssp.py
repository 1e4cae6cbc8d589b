"""FedSSP: one client after another, dense Laplacians and filters of every single graph, torch's own modules."""

from __future__ import annotations

import math
import re

import numpy as np
import torch
from torch import Tensor, nn

from fedbench import seeds
from fedbench.kernels.dropout import client_keys, draw_keep
from tests.reference.federation import Seen, State, Step
from tests.reference.plans import Plan, Settings, Shape

TASKS = ("graph",)
SMALL = {"width": 8, "layers": 1, "heads": 2, "adamw_epsilon": 1e-3}  # with 1e-8 rounding errors would become steps
CASES = ({"layers": 2, "heads": 4, "momentum": 0.9, "tau": 1.0, "weights_from": 1},)


class Layer(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.message, self.first, self.second = (nn.Linear(width, width) for _ in range(3))
        self.first_norm, self.second_norm = nn.BatchNorm1d(width), nn.BatchNorm1d(width)

    def forward(self, x: Tensor, basis: Tensor, drop: list[Tensor]) -> Tensor:
        sent = nn.functional.gelu(self.message(x))
        x = x + torch.einsum("ijw,jw->iw", basis, sent) * drop[0]
        h = torch.relu(norm(self.first_norm, self.first(x)))
        return x + torch.relu(norm(self.second_norm, self.second(h))) * drop[1]


def norm(module: nn.BatchNorm1d, x: Tensor) -> Tensor:
    """torch's batch norm refuses a single row; what is left of one is its shift."""
    if module.training and len(x) < 2:
        return 0 * x * module.weight + module.bias
    return module(x)


class Masks:
    """Dropout factors of one forward pass, by place and order; none at evaluation."""

    def __init__(self, module: SSP, step: Step | None) -> None:
        self.module, self.step = module, step

    def rows(self, place: int, rows: int, width: int) -> Tensor:
        p = self.module.settings.dropout
        if self.step is None or p == 0:
            return torch.ones(rows, width, dtype=self.module.dtype)
        out = np.zeros(rows * width, dtype=np.uint8)
        draw_keep(out, self.module.key, (self.step.round, self.step.number, place), p)
        return torch.from_numpy(out).view(rows, width).to(self.module.dtype) / (1 - p)


class SSP(nn.Module):
    def __init__(self, settings: Settings, shape: Shape) -> None:
        super().__init__()
        self.settings, self.dtype = settings, shape["dtype"]
        self.key = client_keys(shape["seed"], [shape["client"]])[0]
        d, heads = settings.width, settings.heads
        self.input, self.eigenvalues = nn.Linear(shape["features"], d), nn.Linear(d + 1, d)
        self.attention_norm, self.mlp_norm = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attention_in, self.attention_out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp_first, self.mlp_second, self.spectra = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, heads)
        self.filter_first, self.filter_second = nn.Linear(heads + 1, d), nn.Linear(d, d)
        self.filter_first_norm, self.filter_second_norm = nn.BatchNorm1d(d), nn.BatchNorm1d(d)
        self.layers = nn.ModuleList(Layer(d) for _ in range(settings.layers))
        self.classifier = nn.Linear(d, shape["classes"])
        self.preference = nn.Parameter(torch.zeros(d))

    @staticmethod
    def suite_name(name: str) -> str:
        name = re.sub(r"^layers\.(\d)\.", lambda m: f"conv{int(m[1]) + 1}.", name)
        name = re.sub(r"^(attention|mlp)_", r"\1.", name).replace("filter_", "encoder.")
        return name.replace("eigenvalues.", "encoder.eigenvalues.")

    def forward(self, x: Tensor, edges: Tensor, graph: Tensor) -> Tensor:
        z = self.features(x, edges, graph, None)
        used = self.settings.pgpa and self.settings.evaluated == "with_preference"
        return self.classifier(z + self.preference if used else z)

    def features(self, x: Tensor, edges: Tensor, graph: Tensor, step: Step | None) -> Tensor:
        """The mean over every graph's nodes of the last layer."""
        n, masks = len(x), Masks(self, step)
        basis = self.basis(edges, graph, masks)
        x = torch.relu(self.input(x))
        for i, layer in enumerate(self.layers):
            x = layer(x, basis, [masks.rows(5 + 2 * i + k, n, self.settings.width) for k in (0, 1)])
        return torch.stack([x[graph == g].mean(0) for g in range(int(graph.max()) + 1)])

    def basis(self, edges: Tensor, graph: Tensor, masks: Masks) -> Tensor:
        """Weights [i, j, channel] of the messages from j to i, dense over the whole batch."""
        n, d = len(graph), self.settings.width
        filters = self.filters(edges, graph, masks)
        order = sorted(edges.T.tolist(), key=lambda e: (e[1], e[0]))
        source, target = (torch.tensor([e[k] for e in order], dtype=torch.long) for k in (0, 1))
        z = norm(self.filter_first_norm, self.filter_first(filters[target, source]))
        z = nn.functional.gelu(norm(self.filter_second_norm, self.filter_second(nn.functional.gelu(z))))
        z = z * masks.rows(4, len(order), d)
        scores = torch.full((n, n, d), -math.inf, dtype=self.dtype).index_put((target, source), z)
        alone = (torch.bincount(target, minlength=n) == 0).view(-1, 1, 1)
        return torch.softmax(scores.masked_fill(alone, 0.0), dim=1) * ~alone

    def filters(self, edges: Tensor, graph: Tensor, masks: Masks) -> Tensor:
        """I and U diag(s_m) U' of all graphs, block-diagonal, [n, n, heads + 1]."""
        values, u = eigenpairs(edges, graph)
        h, u = self.eigenvalues(self.encoded(values).to(self.dtype)), u.to(self.dtype)
        attended = self.attended(self.attention_norm(h), graph, self.attention_masks(graph, masks))
        h = h + self.attention_out(attended) * masks.rows(2, len(h), self.settings.width)
        inner = nn.functional.gelu(self.mlp_first(self.mlp_norm(h)))
        h = h + self.mlp_second(inner) * masks.rows(3, len(h), self.settings.width)
        bases = [torch.eye(len(u), dtype=self.dtype)] + [u @ torch.diag(s) @ u.T for s in self.spectra(h).T]
        return torch.stack(bases, dim=2)

    def encoded(self, values: Tensor) -> Tensor:
        half, d = range(self.settings.width // 2), self.settings.width
        angles = [100 * values / 10000 ** (2 * i / d) for i in half]
        return torch.stack([values, *(a.sin() for a in angles), *(a.cos() for a in angles)], dim=1)

    def attention_masks(self, graph: Tensor, masks: Masks) -> Tensor:
        """Factors of the attention weights, block-diagonal, [query, key, heads]."""
        sizes, heads = torch.bincount(graph).tolist(), self.settings.heads
        listed = masks.rows(1, sum(n * n for n in sizes), heads)
        dense = torch.zeros(len(graph), len(graph), heads, dtype=self.dtype)
        dense[graph[:, None] == graph[None, :]] = listed  # graph by graph, row by row
        return dense

    def attended(self, h: Tensor, graph: Tensor, drop: Tensor) -> Tensor:
        """Multi-head attention inside graphs, head by head."""
        d, heads = self.settings.width, self.settings.heads
        query, key, value = self.attention_in(h).split(d, dim=1)
        apart, seen = graph[:, None] != graph[None, :], []
        for m in range(heads):
            own = slice(m * d // heads, (m + 1) * d // heads)
            scores = (query[:, own] @ key[:, own].T / math.sqrt(d / heads)).masked_fill(apart, -math.inf)
            seen.append((torch.softmax(scores, dim=1) * drop[..., m]) @ value[:, own])
        return torch.cat(seen, dim=1)


def eigenpairs(edges: Tensor, graph: Tensor) -> tuple[Tensor, Tensor]:
    """Eigenvalues of D - A, graph by graph, and eigenvectors, block-diagonal.

    Dropout treats equal eigenvalues unequally, so that their eigenvectors matter: LAPACK's, through numpy.
    """
    a = torch.zeros(len(graph), len(graph), dtype=torch.float64)
    a[edges[0], edges[1]] = 1
    laplacian = torch.diag(a.sum(1)) - a
    found = []
    for size in torch.bincount(graph).tolist():
        first = sum(len(values) for values, _ in found)
        found.append(np.linalg.eigh(laplacian[first : first + size, first : first + size].numpy()))
    values, vectors = zip(*found, strict=True)
    return torch.from_numpy(np.concatenate(values)), torch.block_diag(*map(torch.from_numpy, vectors))


class Program:
    """What is remembered beside modules: running means, the consensus, summed gradients."""

    def __init__(self, settings: Settings, shape: Shape) -> None:
        self.settings, self.seed = settings, shape["seed"]
        self.mean: dict[int, Tensor] = {}
        self.gathered: dict[int, Tensor] = {}
        self.consensus: Tensor | None = None
        self.averaging = False

    def before(self, seen: Seen) -> None:
        if seen.round == 1 and self.settings.start == "own":
            for k, module in enumerate(seen.modules):
                start(module, self.seed, k)
        if self.settings.mean_over == "round":
            self.mean.clear()

    def loss(self, module: SSP, step: Step) -> Tensor:
        own = self.settings
        x, edges, graph = step.batch.inputs
        z = module.features(x, edges, graph, step)
        before = 0.0 if own.mean_over == "batch" else (1 - own.momentum) * self.mean.get(step.client, 0.0)
        mean = before + own.momentum * z.mean(0)
        self.mean[step.client] = mean.detach()
        if self.consensus is None:
            return nn.functional.cross_entropy(module.classifier(z), step.batch.y)
        ce = nn.functional.cross_entropy(module.classifier(z + module.preference), step.batch.y)
        return ce + own.tau * torch.mean(0.5 * (mean - self.consensus) ** 2)

    def corrected(self, module: SSP, client: int, round: int, number: int) -> None:
        gradient, module.preference.grad = module.preference.grad, None
        if gradient is not None and self.settings.preference != "zero":
            if self.settings.preference == "accumulated":
                gradient = self.gathered[client] = self.gathered.get(client, 0.0) + gradient
            module.preference.data -= self.settings.preference_rate * gradient

    def states(self, seen: Seen) -> list[State]:
        own, modules = self.settings, seen.modules
        if own.pgpa:
            self.consensus = sum(self.mean[k] for k in range(len(modules))) / len(modules)
        sent = [{n: p.detach().clone() for n, p in m.named_parameters() if shared(n)} for m in modules]
        if not own.gsks or seen.round < own.weights_from:
            return sent
        return [{n: sum(state[n] for state in sent) / len(sent) for n in sent[0]}] * len(sent)


def shared(name: str) -> bool:
    return name.startswith(("eigenvalues.", "filter_"))


def start(module: SSP, seed: int, client: int) -> None:
    """Draw a client's own weights as the suite names them."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if parameter.dim() == 1 and ("norm" in name or name == "preference"):
                continue
            random = seeds.generator("own weights", seed, client, SSP.suite_name(name))
            parameter.copy_(drawn(module, name, parameter, random))


def drawn(module: SSP, name: str, parameter: Tensor, random: np.random.Generator) -> Tensor:
    weight = module.get_parameter(name.rsplit(".", 1)[0] + ".weight")
    if name.startswith("attention") and parameter.dim() == 1:
        return torch.zeros_like(parameter)
    bound = math.sqrt(6 / sum(weight.shape)) if name.startswith("attention_in") else 1 / math.sqrt(weight.shape[1])
    if parameter.dim() == 2 and not name.startswith("classifier"):
        return torch.from_numpy(random.uniform(-bound, bound, parameter.T.shape)).T
    return torch.from_numpy(random.uniform(-bound, bound, parameter.shape))


class FreshAdamW:
    """A new AdamW for every batch."""

    def __init__(self, module: nn.Module, **settings: float) -> None:
        self.module, self.settings = module, settings

    def zero_grad(self) -> None:
        self.module.zero_grad()

    def step(self) -> None:
        torch.optim.AdamW(self.module.parameters(), **self.settings).step()


def plan(settings: Settings, shape: Shape) -> Plan:
    program, training = Program(settings, shape), shape["training"]
    adamw = {"lr": training.learning_rate, "weight_decay": training.weight_decay, "eps": settings.adamw_epsilon}
    shares = settings.gsks or settings.pgpa
    return Plan(
        lambda own: SSP(settings, own),
        lambda name: shares and shared(name),
        states=program.states if shares else None,
        before=program.before,
        loss=program.loss,
        corrected=program.corrected,
        optimiser=(lambda module: FreshAdamW(module, **adamw)) if settings.adamw == "first_step" else None,
    )
