"""Centralised: one client, who shares with nobody."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.reference.plans import Plan, Settings, Shape, nothing, plain
from tests.reference.rec import RecTrace, networks_in
from tests.tasks.rec.plain_federation import Model, federate, of_vectors
from tests.tasks.rec.test_rec_ranking import plain_figures

TASKS = ("node", "rec")


def plan(settings: Settings, shape: Shape) -> Plan:
    return Plan(plain, nothing)


def rec(method: Any, problem: Any, seed: int) -> RecTrace:
    """One client with everything, whose users are ranked among their own clients' items."""
    whole, figures, cut = problem.pooled_data(), [], problem.partition

    def measure(models: list[Model], round: int) -> None:
        final = program.vectors(models[0], 0).detach()
        scores = (final[: whole.users] @ final[whole.users :].T).numpy()
        parts = [scores[np.ix_(cut.users_of(k), cut.items_of(k))] for k in range(problem.clients)]
        found = [plain_figures(c, part, "test") for c, part in zip(problem.client_data, parts, strict=True)]
        figures.append([each[:2] for each in found])

    program = of_vectors(method, [whole], shared=nothing, rows=False, after=measure)
    run = federate(program, [whole], networks_in(method, problem, seed), method.training, seed)
    return RecTrace(np.array(run.losses), np.array(figures))
