"""One client after another: local training, evaluation, and a server that combines lists of state dictionaries."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from tests.reference.clients import Batch, Client, Graph

__all__ = ["Batch", "Client", "Graph", "Keep", "Plan", "Seen", "State", "Step", "Trace", "cross_entropy", "federate"]

State = dict[str, Tensor]
Shape = dict[str, object]
Keep = Callable[[int, int, int, Batch], list[Tensor] | None]
"""(client, round, number of the step in the round, batch) to the dropout masks of a forward pass."""


@dataclass
class Seen:
    """What a server may look at: modules (their last gradients included), what they had received, and so on."""

    modules: list[nn.Module]
    received: list[State]
    graphs: list[Client]
    round: int


@dataclass
class Step:
    """A local step: whose, in which round, the how manieth there (from 0), on what, with which dropout masks."""

    client: int
    round: int
    number: int
    batch: Batch
    keep: list[Tensor] | None
    scale: float


def cross_entropy(module: nn.Module, step: Step) -> Tensor:
    logits, batch = module(*step.batch.inputs, step.keep, step.scale), step.batch
    return nn.functional.cross_entropy(logits[batch.counts], batch.y[batch.counts])


@dataclass
class Plan:
    """A method, plainly.

    ``make``: a client's module, from its shape. ``shared``: does a parameter (plain name) leave the client?
    ``combine``: weights [K, K] of new shared parameters from the clients' modules, or None to leave them;
    ``combine_seen``: the same from more than that; ``states``: the new shared parameters themselves.
    ``before``: what happens at the start of a round, when every client has what it received.
    ``loss``: of a step; ``penalty``: extra loss from (module, received, round).
    ``constrain``: what is done to a module after each of its steps. ``corrected``: what is done to a module's gradients
    before a step, from (module, client, round, number of the step). ``epochs``: of (client, round); absent: the
    method's own. ``evaluated``: the modules that are measured, in place of the clients' own. ``optimiser``: a module's,
    in place of the protocol's. ``instead``: the whole program, for a method that doesn't train.
    """

    make: Callable[[Shape], nn.Module]
    shared: Callable[[str], bool]
    combine: Callable[[list[nn.Module]], Tensor] | None = None
    penalty: Callable[[nn.Module, State, int], Tensor] | None = None
    epochs: Callable[[int, int], int] | None = None
    constrain: Callable[[nn.Module], None] = lambda module: None
    corrected: Callable[[nn.Module, int, int, int], None] = lambda module, client, round, number: None
    instead: Callable[[list[Client], int], Trace] | None = None
    combine_seen: Callable[[Seen], Tensor] | None = None
    states: Callable[[Seen], Sequence[State]] | None = None
    before: Callable[[Seen], None] = lambda seen: None
    loss: Callable[[nn.Module, Step], Tensor] = cross_entropy
    evaluated: Callable[[list[nn.Module]], list[nn.Module]] = lambda modules: modules
    optimiser: Callable[[nn.Module], torch.optim.Optimizer] | None = None


@dataclass
class Trace:
    """Test and validation accuracy per round and client, losses of the last steps, and the modules at the end."""

    accuracy: dict[str, list[list[float]]] = field(default_factory=lambda: {"val": [], "test": []})
    loss: list[list[float]] = field(default_factory=list)
    modules: list[nn.Module] = field(default_factory=list)


def federate(
    plan: Plan,
    graphs: list[Client],
    start: Callable[[nn.Module, int], None],
    keep: Keep,
    *,
    shapes: Sequence[Shape],
    clients: int,
    rounds: int,
    lr: float,
    weight_decay: float,
    scale: float,
    optimiser: str = "adam",
    evaluated_after: str = "local_steps",
) -> Trace:
    """Run ``rounds`` rounds; ``start(module, client)`` sets initial weights."""
    if plan.instead:
        return plan.instead(graphs, rounds)
    modules = [plan.make(shape).to(shape["dtype"]) for shape in shapes]
    for client, module in enumerate(modules):
        start(module, client)
    optimisers = [
        plan.optimiser(module) if plan.optimiser else _optimiser(optimiser, module, lr, weight_decay)
        for module in modules
    ]
    trace = Trace(modules=modules)
    for round in range(1, rounds + 1):
        received = [_shared(plan, module) for module in modules]
        seen = Seen(modules, received, graphs, round)
        plan.before(seen)
        trace.loss.append([_train(plan, seen, k, optimisers[k], keep, scale) for k in range(len(modules))])
        if evaluated_after == "local_steps":
            _evaluate(plan.evaluated(modules), graphs, trace, clients)
        _server(plan, seen)
        if evaluated_after == "download":
            _evaluate(plan.evaluated(modules), graphs, trace, clients)
    return trace


def loaded(module: nn.Module, state: State) -> nn.Module:
    """Return a copy of a module with some of its parameters replaced."""
    twin = copy.deepcopy(module)
    twin.load_state_dict(dict(module.named_parameters()) | state, strict=False)
    return twin


def _shared(plan: Plan, module: nn.Module) -> State:
    return {n: p.detach().clone() for n, p in module.named_parameters() if plan.shared(n)}


def _optimiser(kind: str, module: nn.Module, lr: float, weight_decay: float) -> torch.optim.Optimizer | None:
    parameters = list(module.parameters())
    make = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}[kind]
    return make(parameters, lr=lr, weight_decay=weight_decay) if parameters else None


def _train(plan, seen, client, optimiser, keep, scale) -> float:  # type: ignore[no-untyped-def]
    """Take a client's steps of a round; return the loss of the last."""
    loss, number = float("nan"), 0
    for epoch in range(plan.epochs(client, seen.round) if plan.epochs else 1):
        for batch in seen.graphs[client].batches(seen.round, epoch):
            masks = keep(client, seen.round, number, batch)
            step = Step(client, seen.round, number, batch, masks, scale)
            loss = _local_step(plan, seen.modules[client], optimiser, seen.received[client], step)
            number += 1
    return loss


def _local_step(plan: Plan, module: nn.Module, optimiser, received: State, step: Step) -> float:  # type: ignore[no-untyped-def]
    module.train()
    loss = plan.loss(module, step)
    total = loss if plan.penalty is None else loss + plan.penalty(module, received, step.round)
    if optimiser is not None:
        optimiser.zero_grad()
        total.backward()
        plan.corrected(module, step.client, step.round, step.number)
        optimiser.step()
        plan.constrain(module)
    return float(loss.detach())


def _evaluate(modules: list[nn.Module], graphs: list[Client], trace: Trace, clients: int) -> None:
    for split, code in (("val", 1), ("test", 2)):
        right, total = torch.zeros(clients), torch.zeros(clients)
        for module, graph in zip(modules, graphs, strict=True):
            module.eval()
            with torch.no_grad():
                correct = module(*graph.whole().inputs).argmax(1) == graph.y
            for row in (graph.split == code).nonzero().flatten().tolist():
                right[graph.owner[row]] += float(correct[row])
                total[graph.owner[row]] += 1
        trace.accuracy[split].append((right / total).tolist())


def _server(plan: Plan, seen: Seen) -> None:
    if plan.states is not None:
        new = list(plan.states(seen))
    elif plan.combine is None and plan.combine_seen is None:
        return
    else:
        new = _mixed(plan, seen, plan.combine_seen(seen) if plan.combine_seen else plan.combine(seen.modules))
    with torch.no_grad():
        for module, state in zip(seen.modules, new, strict=True):
            for name, parameter in module.named_parameters():
                if plan.shared(name):
                    parameter.copy_(state[name])


def _mixed(plan: Plan, seen: Seen, weights: Tensor) -> list[State]:
    sent = [copy.deepcopy(_shared(plan, module)) for module in seen.modules]
    return [
        {name: sum(weights[k, j] * sent[j][name] for j in range(len(sent))) for name in sent[k]}
        for k in range(len(sent))
    ]
