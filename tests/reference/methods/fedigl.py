"""FedIGL: one client after another, dense weighted adjacencies, edges sorted graph by graph, autograd twice."""

from __future__ import annotations

import math
import re

import numpy as np
import torch
from torch import Tensor, nn

from fedbench.kernels.dropout import client_keys, draw_keep
from tests.reference.federation import Seen, State, Step
from tests.reference.plans import Plan, Settings, Shape, sizes

TASKS = ("graph",)
CASES = (
    {"stages": "epochs", "nodes": "incident", "generator_layers": 1, "gradients": "last", "margin": 5.0},
    {"weights": "uniform", "share": 0.5, "consistency": 0.5},
)
GLOBAL = ("generator.", "invariant.", "variant.", "pair.", "score.")


def stack(layers: int, width: int) -> nn.ModuleList:
    mlps = (nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)) for _ in range(layers))
    return nn.ModuleList(mlps)


class IGL(nn.Module):
    def __init__(self, settings: Settings, shape: Shape) -> None:
        super().__init__()
        self.settings, self.model, self.dtype = settings, shape["training"].model, shape["dtype"]
        self.key = client_keys(shape["seed"], [shape["client"]])[0]
        width, layers = shape["width"], shape["layers"]
        depth = layers if settings.generator_layers is None else settings.generator_layers
        self.generator, self.pair, self.score = stack(depth, width), nn.Linear(2 * width, width), nn.Linear(width, 1)
        self.invariant, self.variant, self.own = (stack(layers, width) for _ in range(3))
        self.input, self.own_input = (nn.Linear(shape["features"], width) for _ in range(2))
        self.post, self.own_post = (nn.Linear(width, width) for _ in range(2))
        self.readout, self.own_readout = (nn.Linear(width, shape["classes"]) for _ in range(2))

    @staticmethod
    def suite_name(name: str) -> str:
        name = re.sub(r"^own_", "own.", name)
        name = re.sub(r"^(pair|score)\.", r"generator.\1.", name)
        kinds = {"0": "first", "2": "second"}
        return re.sub(r"^(\w+)\.(\d)\.([02])\.", lambda m: f"{m[1]}.conv{int(m[2]) + 1}.{kinds[m[3]]}.", name)

    def forward(self, x: Tensor, edges: Tensor, graph: Tensor) -> Tensor:
        inside, outside, h = self.cut(x, edges, graph, None)
        return self.own_logits(x, graph, inside, outside, h, None)

    def cut(self, x: Tensor, edges: Tensor, graph: Tensor, step: Step | None) -> tuple[Tensor, Tensor, Tensor]:
        """Dense weights of G_I and G_V, and h_inv."""
        entered = self.input(x)
        a = torch.zeros(len(x), len(x), dtype=self.dtype)
        a[edges[0], edges[1]] = 1
        z = entered
        for mlp in self.generator:
            z = torch.relu(mlp(z + a @ z))
        pairs = sorted((i, j) for i, j in edges.T.tolist() if i < j)
        i, j = torch.tensor(pairs, dtype=torch.long).view(-1, 2).T
        scores = (self.edges(z[i], z[j]) + self.edges(z[j], z[i])) / 2
        best = self.best(pairs, scores.tolist(), graph)
        first, second = self.weights(torch.sigmoid(scores), torch.tensor([k in best for k in range(len(pairs))]).bool())
        inside, outside = (
            torch.zeros_like(a).index_put((torch.cat([i, j]), torch.cat([j, i])), w.repeat(2)) for w in (first, second)
        )
        self.within = {"invariant": self.touched(pairs, best, len(x)),
                       "variant": self.touched(pairs, set(range(len(pairs))) - best, len(x))}  # fmt: skip
        return inside, outside, self.encoded("invariant", entered, inside, graph, step)

    def edges(self, a: Tensor, b: Tensor) -> Tensor:
        return self.score(torch.relu(self.pair(torch.cat([a, b], dim=1)))).view(-1)

    def best(self, pairs: list[tuple[int, int]], scores: list[float], graph: Tensor) -> set[int]:
        found: set[int] = set()
        for g in range(int(graph.max()) + 1):
            own = [k for k, (i, _) in enumerate(pairs) if int(graph[i]) == g]
            own.sort(key=lambda k: (-round(scores[k] * 65536), k))
            found |= set(own[: math.ceil(self.settings.share * len(own))])
        return found

    def weights(self, p: Tensor, inside: Tensor) -> tuple[Tensor, Tensor]:
        if self.settings.mask == "straight_through":
            return inside.to(p.dtype) + p - p.detach(), (~inside).to(p.dtype) - p + p.detach()
        return torch.where(inside, p, 0.0), torch.where(inside, 0.0, 1 - p)

    @staticmethod
    def touched(pairs: list[tuple[int, int]], chosen: set[int], nodes: int) -> Tensor:
        ends = {node for k in chosen for node in pairs[k]}
        return torch.tensor([[float(node in ends)] for node in range(nodes)], dtype=torch.float64)

    def encoded(self, name: str, x: Tensor, weights: Tensor, graph: Tensor, step: Step | None) -> Tensor:
        """The sum over every graph's nodes of an encoder's last layer."""
        mlps = getattr(self, name)
        place = ("invariant", "variant", "own").index(name) * len(mlps)
        for layer, mlp in enumerate(mlps, 1):
            x = torch.relu(mlp(x + weights @ x)) * self.keep(step, place + layer, len(x))
        if self.settings.nodes == "incident":
            x = x * self.within["variant" if name == "own" else name].to(self.dtype)
        return torch.stack([x[graph == g].sum(0) for g in range(int(graph.max()) + 1)])

    def keep(self, step: Step | None, place: int, rows: int) -> Tensor:
        p, width = self.model.dropout, self.model.width
        if step is None or p == 0:
            return torch.ones(rows, width, dtype=self.dtype)
        out = np.zeros(rows * width, dtype=np.uint8)
        draw_keep(out, self.key, (step.round, step.number, place), p)
        return torch.from_numpy(out).view(rows, width).to(self.dtype) / (1 - p)

    def global_logits(self, x: Tensor, graph: Tensor, outside: Tensor, h: Tensor, step: Step | None) -> Tensor:
        pooled = h + self.encoded("variant", self.input(x), outside, graph, step)
        place = 3 * len(self.own) + 1
        return self.readout(torch.relu(self.post(pooled)) * self.keep(step, place, len(pooled)))

    def own_logits(
        self, x: Tensor, graph: Tensor, inside: Tensor, outside: Tensor, h: Tensor, step: Step | None
    ) -> Tensor:
        pooled = h.detach() + self.encoded("own", self.own_input(x), outside.detach(), graph, step)
        place = 3 * len(self.own) + 2
        return self.own_readout(torch.relu(self.own_post(pooled)) * self.keep(step, place, len(pooled)))


class Program:
    """What is remembered: the gradients of a round, by client and step, and their averages."""

    def __init__(self, settings: Settings, shape: Shape) -> None:
        self.settings, self.training = settings, shape["training"]
        self.gradients: dict[int, list[State]] = {}
        self.averages: State = {}
        self.steps: dict[int, int] = {}

    def before(self, seen: Seen) -> None:
        self.gradients = {k: [] for k in range(len(seen.modules))}
        size = self.training.batch_size
        for k, client in enumerate(seen.graphs):
            train = int((client.split == 0).sum())
            self.steps[k] = math.ceil(train / (size or train))

    def loss(self, module: IGL, step: Step) -> Tensor:
        (x, edges, graph), y = step.batch.inputs, step.batch.y
        ce, both = nn.functional.cross_entropy, self.settings.stages == "joint"
        private = step.number >= self.training.local_epochs * self.steps[step.client]
        inside, outside, h = module.cut(x, edges, graph, step)
        if private and not both:
            return ce(module.own_logits(x, graph, inside, outside, h, step), y)
        loss = ce(module.global_logits(x, graph, outside, h, step), y)
        total = loss + self.regularisation(module, loss, step.client)
        return total + ce(module.own_logits(x, graph, inside, outside, h, step), y) if both else total

    def regularisation(self, module: IGL, loss: Tensor, client: int) -> Tensor:
        names = [n for n, _ in module.named_parameters() if n.startswith(("invariant.", "variant."))]
        found = torch.autograd.grad(loss, [module.get_parameter(n) for n in names], create_graph=True)
        gradients = dict(zip(names, found, strict=True))
        self.gradients[client].append({n: g.detach() for n, g in gradients.items()})
        if not self.averages:
            return torch.zeros(())
        squares = {part: sum(((g - self.averages[n]) ** 2).sum() for n, g in gradients.items() if n.startswith(part))
                   for part in ("invariant.", "variant.")}  # fmt: skip
        short = torch.relu(self.settings.margin - torch.sqrt(squares["variant."]))
        return self.settings.consistency * squares["invariant."] + self.settings.variety * short**2

    def combine(self, seen: Seen) -> Tensor:
        size = torch.tensor(sizes(self.settings.weights, seen.graphs), dtype=torch.float64)
        share = size / size.sum()
        own = [steps[-1:] if self.settings.gradients == "last" else steps for steps in self.gradients.values()]
        self.averages = {
            n: sum(w * torch.stack([g[n] for g in steps]).mean(0) for w, steps in zip(share, own, strict=True))
            for n in own[0][0]
        }
        return share.expand(len(share), len(share))


class OneCount:
    """Adam that counts a client's steps, not each parameter's: as the suite's does, where a step leaves some out."""

    def __init__(self, module: nn.Module, **settings: float) -> None:
        self.inner, self.steps = torch.optim.Adam(module.parameters(), **settings), 0

    def zero_grad(self) -> None:
        self.inner.zero_grad()

    def step(self) -> None:
        for parameter in self.inner.param_groups[0]["params"]:
            state = self.inner.state[parameter]
            if not state:
                state |= {"exp_avg": torch.zeros_like(parameter), "exp_avg_sq": torch.zeros_like(parameter)}
            state["step"] = torch.tensor(float(self.steps))
        self.inner.step()
        self.steps += 1


def plan(settings: Settings, shape: Shape) -> Plan:
    program, training = Program(settings, shape), shape["training"]
    adam = {"lr": training.learning_rate, "weight_decay": training.weight_decay}
    return Plan(
        lambda own: IGL(settings, own),
        lambda name: name.startswith(GLOBAL),
        combine_seen=program.combine,
        before=program.before,
        loss=program.loss,
        optimiser=lambda module: OneCount(module, **adam),
    )
