"""One client after another: local training, evaluation, and a server that combines lists of state dictionaries."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

State = dict[str, Tensor]


@dataclass
class Graph:
    """One client's graph as PyG likes it; ``split`` has 0 train, 1 validation, 2 test."""

    x: Tensor
    edges: Tensor
    y: Tensor
    split: Tensor
    owner: Tensor


@dataclass
class Seen:
    """What a server may look at: trained modules (their last gradients included), what they had received, and so on."""

    modules: list[nn.Module]
    received: list[State]
    graphs: list[Graph]
    round: int


@dataclass
class Plan:
    """A method, plainly.

    ``make``: a client's module. ``shared``: does a parameter (plain name) leave the client? ``combine``: new shared
    states from the clients' modules, or None to leave them. ``combine_seen``: the same from more than that.
    ``penalty``: extra loss from (module, received, round).
    ``constrain``: what is done to a module after each of its steps. ``corrected``: what is done to a module's gradients
    before a step, from (module, client, round, epoch). ``instead``: the whole program, for a method that doesn't train.
    """

    make: Callable[[], nn.Module]
    shared: Callable[[str], bool]
    combine: Callable[[list[nn.Module]], Tensor] | None = None
    penalty: Callable[[nn.Module, State, int], Tensor] | None = None
    epochs: Callable[[int, int], int] = lambda client, round: 1
    constrain: Callable[[nn.Module], None] = lambda module: None
    corrected: Callable[[nn.Module, int, int, int], None] = lambda module, client, round, epoch: None
    instead: Callable[[list[Graph], int], Trace] | None = None
    combine_seen: Callable[[Seen], Tensor] | None = None


@dataclass
class Trace:
    """Test and validation accuracy per round and client, and the modules at the end."""

    accuracy: dict[str, list[list[float]]] = field(default_factory=lambda: {"val": [], "test": []})
    loss: list[list[float]] = field(default_factory=list)
    modules: list[nn.Module] = field(default_factory=list)


Keep = Callable[[int, int, int], list[Tensor] | None]


def federate(
    plan: Plan,
    graphs: list[Graph],
    start: Callable[[nn.Module], None],
    keep: Keep,
    *,
    clients: int,
    rounds: int,
    lr: float,
    weight_decay: float,
    scale: float,
    optimiser: str = "adam",
) -> Trace:
    """Run ``rounds`` rounds; ``keep(client, round, epoch)`` gives the dropout masks of a forward pass."""
    if plan.instead:
        return plan.instead(graphs, rounds)
    modules = [plan.make().to(graphs[0].x.dtype) for _ in graphs]
    for module in modules:
        start(module)
    optimisers = [_optimiser(optimiser, module, lr, weight_decay) for module in modules]
    trace = Trace(modules=modules)
    for round in range(1, rounds + 1):
        losses, before = [], []
        for client, (graph, module, optimiser) in enumerate(zip(graphs, modules, optimisers, strict=True)):
            received = {n: p.detach().clone() for n, p in module.named_parameters() if plan.shared(n)}
            before.append(received)
            loss = torch.tensor(float("nan"))
            for epoch in range(plan.epochs(client, round)):
                at = (client, round, epoch)
                loss = _local_step(plan, module, optimiser, graph, received, at, keep(*at), scale)
            losses.append(float(loss))
        trace.loss.append(losses)
        _evaluate(modules, graphs, trace, clients)
        _server(plan, Seen(modules, before, graphs, round))
    return trace


def _optimiser(kind: str, module: nn.Module, lr: float, weight_decay: float) -> torch.optim.Optimizer | None:
    parameters = list(module.parameters())
    make = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}[kind]
    return make(parameters, lr=lr, weight_decay=weight_decay) if parameters else None


def _local_step(plan, module, optimiser, graph, received, at, keep, scale) -> Tensor:  # type: ignore[no-untyped-def]
    module.train()
    logits = module(graph.x, graph.edges, keep, scale)
    train = graph.split == 0
    loss = nn.functional.cross_entropy(logits[train], graph.y[train])
    total = loss if plan.penalty is None else loss + plan.penalty(module, received, at[1])
    if optimiser is not None:
        optimiser.zero_grad()
        total.backward()
        plan.corrected(module, *at)
        optimiser.step()
        plan.constrain(module)
    return loss.detach()


def _evaluate(modules: list[nn.Module], graphs: list[Graph], trace: Trace, clients: int) -> None:
    for split, code in (("val", 1), ("test", 2)):
        right, total = torch.zeros(clients), torch.zeros(clients)
        for module, graph in zip(modules, graphs, strict=True):
            module.eval()
            with torch.no_grad():
                correct = module(graph.x, graph.edges).argmax(1) == graph.y
            for node in (graph.split == code).nonzero().flatten().tolist():
                right[graph.owner[node]] += float(correct[node])
                total[graph.owner[node]] += 1
        trace.accuracy[split].append((right / total).tolist())


def _server(plan: Plan, seen: Seen) -> None:
    modules = seen.modules
    if plan.combine is None and plan.combine_seen is None:
        return
    weights = plan.combine_seen(seen) if plan.combine_seen else plan.combine(modules)
    before = [copy.deepcopy(dict(module.named_parameters())) for module in modules]
    with torch.no_grad():
        for k, module in enumerate(modules):
            for name, parameter in module.named_parameters():
                if plan.shared(name):
                    parameter.copy_(sum(weights[k, j] * before[j][name] for j in range(len(modules))))
