"""FedSST: one client after another, the note's formulas in scalars, PyG's convolution on the probe graph."""

from __future__ import annotations

import copy
import math

import torch
from torch import Tensor, nn

from fedbench.methods._fedsst_probe import draw_probe
from tests.reference.federation import Seen, State, loaded
from tests.reference.plans import Plan, Settings, Shape, everything, plain, sizes

TASKS = ("graph",)
SMALL = {"epochs": {"gain": 6.0, "most": 3}}
CASES = (
    {"score": {"threshold": "floor", "low": 0.9}},
    {"without_ssca": "uniform", "ssca": False},
    {"probe": {"model": "integrated_previous"}, "fusion": {"start_from": "integrated", "weight": "max1"}},
    {"probe": {"model": "received"}, "fusion": {"start_from": "integrated"}},
    {"fusion": {"evaluated": "integrated"}},
)


class Server:
    """What is remembered: the newest weights w, signals' source models, theta_G."""

    def __init__(self, settings: Settings, shape: Shape) -> None:
        self.settings, self.local_epochs = settings, shape["training"].local_epochs
        probe = draw_probe(settings.probe, torch.device("cpu"))  # the graph is data, fixed from outside
        self.edges = (probe.around - torch.eye(len(probe.around), dtype=torch.float64)).nonzero().T
        self.probe, self.signals, self.model, self.fused = probe, None, None, None

    def weights(self, clients: int) -> list[float]:
        return weights(self.settings.score, self.signals or [0.0] * clients)

    def epochs(self, client: int, round: int) -> int:
        if not self.settings.slta:
            return self.local_epochs
        own, w = self.settings.epochs, self.weights(self.clients)[client]
        return min(max(round_half_even(own.base * (1 + own.gain * w)), own.least), own.most)

    def signal(self, module: nn.Module) -> float:
        module = copy.deepcopy(module).double()
        with torch.no_grad():
            if self.settings.probe.enters == "input":
                x = module.input(self.probe.features(module.input.in_features))
            else:
                x = self.probe.features(module.convs[0].nn[0].in_features)
            h = torch.relu(module.convs[0](x, self.edges))
        rows = [row / max(float(row.norm()), 1e-12) for row in h]
        s = [[float(a @ b) for b in rows] for a in rows]
        return FORMS[self.settings.probe.form](s, torch.stack(rows), self.settings.probe.epsilon)

    def evaluated(self, modules: list[nn.Module]) -> list[nn.Module]:
        if self.settings.fusion.evaluated == "start" or self.fused is None:
            return modules
        return [loaded(module, state) for module, state in zip(modules, self.fused, strict=True)]

    def step(self, seen: Seen) -> list[State]:
        modules, own = seen.modules, self.settings.fusion
        local = [{n: p.detach().clone() for n, p in m.named_parameters() if everything(n)} for m in modules]
        measured = [self.signal(module) for module in modules]
        if self.settings.probe.model == "local":
            self.signals = measured
        w = self.weights(len(modules))
        top = max(w) if own.weight == "max1" else 1.0
        alpha = [own.least + (own.most - own.least) * x / top for x in w]
        if not self.settings.ssca:
            size = sizes(self.settings.without_ssca, seen.graphs)
            w, alpha = [n / sum(size) for n in size], [0.0] * len(modules)
        model = self.model or seen.received[0]
        fused = [{n: a * model[n] + (1 - a) * state[n] for n in state} for a, state in zip(alpha, local, strict=True)]
        self.fused = fused
        self.model = {n: sum(x * state[n] for x, state in zip(w, fused, strict=True)) for n in model}
        back = fused if self.settings.ssca and own.start_from == "integrated" else [self.model] * len(modules)
        probed = {"integrated_previous": fused, "received": back}.get(self.settings.probe.model)
        self.signals = measured if probed is None else [
            self.signal(loaded(m, state)) for m, state in zip(modules, probed, strict=True)
        ]  # fmt: skip
        return back


def weights(score: Settings, signals: list[float]) -> list[float]:
    low, high = min(signals), max(signals)
    found = []
    for s in signals:
        r = (s - low) / (high - low + score.delta)
        found.append(
            score.base
            + score.far * (1 - math.exp(-score.far_rate * r))
            + score.middle * math.exp(-((r - score.centre) ** 2) / (2 * score.spread**2))
        )
    mean = sum(found) / len(found)
    if score.threshold != "none":
        found = [max(x, score.low * mean) for x in found]
    if score.threshold == "clip":
        found = [min(x, score.high * mean) for x in found]
    return [x / sum(found) for x in found]


def round_half_even(x: float) -> int:
    return round(x)


def degree_quadratic(s: list[list[float]], h: Tensor, epsilon: float) -> float:
    d = [sum(row) for row in s]
    n = range(len(d))
    laplacian = [[(d[i] if i == j else 0.0) - s[i][j] for j in n] for i in n]
    return sum(d[i] * laplacian[i][j] * d[j] for i in n for j in n) / (sum(x * x for x in d) + epsilon)


def trace(s: list[list[float]], h: Tensor, epsilon: float) -> float:
    similar = torch.tensor(s, dtype=torch.float64)
    return float(torch.trace(h.T @ (torch.diag(similar.sum(1)) - similar) @ h))


FORMS = {"degree_quadratic": degree_quadratic, "trace": trace}


def plan(settings: Settings, shape: Shape) -> Plan:
    server = Server(settings, shape)
    server.clients = shape["problem"].clients
    return Plan(plain, everything, states=server.step, epochs=server.epochs, evaluated=server.evaluated)
