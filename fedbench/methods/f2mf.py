"""F2MF: federated matrix factorisation that evens out how well groups of users are served (Liu et al., RecSys 2022).

L = L_rec + lambda sum_{G, G'} |A_G - A_G'|^rho, A_G the mean performance (1 - loss) of group G's users. Its gradient is
that of L_rec with every user's step D_G times as long, D_G = 1 - lambda rho sum_{G' != G} sign(A_G - A_G')
|A_G - A_G'|^(rho - 1). Clients report each group's sum of performances and its number of users with Gaussian noise; the
server sends D for the next round.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field
from torch import Tensor

from fedbench.methods._activity_groups import GROUPS, Groups, groups_of, step_lengths
from fedbench.methods._gaussian import add_gaussian, gaussian_budget
from fedbench.methods._pair_losses import bpr, sums, with_penalty
from fedbench.methods._summed_steps import SummedSteps, SummedStepsSettings, Tables, tables_of
from fedbench.methods.exchange import Cell, Exchange, LocalStep, Traffic, Trained
from fedbench.methods.weights import uniform_rows
from fedbench.models.parameters import Parameters
from fedbench.tasks.rec.arrays import ClientPairs, RecProblem


class F2MFSettings(SummedStepsSettings):
    """Settings of F2MF."""

    fairness: float = Field(0.5, description="lambda; released scripts try +-0.1 to +-0.9, the default is inferred")
    rho: float = Field(1.0, ge=1, description="power of the differences between groups (released)")
    divided: bool = Field(
        False, description="lambda divided by the number of groups, as the released code does and the formula doesn't"
    )
    noise: float = Field(
        0.01,
        ge=0,
        description="sigma of the noise on each reported number; released scripts: 0.01, 0.001, 0. There every user "
        "reports, here a client does for all of its users (inferred), so the noise is added once a client",
    )
    floor: float = Field(
        0.0,
        lt=1,
        description="least performance that a user reports: without a bound there is no budget (inferred; a ranking at "
        "random has 1 - ln 2)",
    )
    delta: float = Field(1e-5, gt=0, lt=1, description="for which the record states epsilon (inferred)")
    mean_of: Literal["client", "all"] = Field(
        "client",
        description="users with more training pairs than the mean are one group, the rest the other: the mean of the "
        "client's users, or of all users (inferred: groups inside clients)",
    )


@dataclass
class Remembered:
    """Item tables as received, the users' groups, and the run's seeds."""

    tables: Tables
    groups: Groups
    seeds: list[int]


class F2MF(SummedSteps[F2MFSettings]):
    """FedMF with BPR, each user's steps D times as long; nobody drops out (released: a tenth of the users)."""

    Settings = F2MFSettings
    instead = "how well groups of users are served, two noisy sums a group"
    source = "Liu, Ge, Xu, Zhang, Marian, Fairness-aware federated matrix factorization, RecSys 2022"

    def about(self, problem: RecProblem, cell: Cell) -> dict[str, Any]:
        """Return what the record says, the reports' privacy budget included; item gradients have no noise."""
        reach = math.hypot(max(1.0, -self.settings.floor), 1.0)
        budget = gaussian_budget(self.settings.noise, reach, self.training.rounds, self.settings.delta)
        return super().about(problem, cell) | {"reports": budget}

    def memory(self, cell: Cell, data: Sequence[Sequence[ClientPairs]], shared: Parameters) -> Remembered:
        """Group the users, each client its own."""
        groups = groups_of(data[0], cell, self.settings.mean_of)
        return Remembered(tables_of(data[0], cell), groups, list(cell.seeds))

    def tables(self, memory: Remembered) -> Tables:
        """Return the item tables."""
        return memory.tables

    def objective(self, training: LocalStep) -> Tensor:
        """Return the sum of D_G times the loss of each pair, G its user's group, [S * k]."""
        batch, groups = training.block, training.memory.groups
        outputs = training.network.forward(training.parameters, batch, training.dropout)
        user = batch.user_rows[batch.user]
        groups.note(training.clients, user, bpr(outputs.scores.detach()))  # type: ignore[attr-defined]
        lengths = groups.lengths_of(training.clients)[user]
        return sums(batch, lengths * with_penalty(batch, outputs, bpr))  # type: ignore[arg-type]

    def signals(self, trained: Trained) -> dict[str, Tensor]:
        """Report each group's sum of performances and its users, with noise, [S, k, groups] each."""
        remembered: Remembered = trained.memory
        reports = remembered.groups.reports(trained.clients, self.settings.floor)
        for what, report in zip(("performances", "users"), reports, strict=True):
            at = (remembered.groups.round, what)
            add_gaussian(report, self.settings.noise, remembered.seeds, trained.clients, at)
        return super().signals(trained) | {"performances": reports[0], "users": reports[1]}

    def mixing(self, uploads: Parameters, exchange: Exchange) -> Tensor:
        """Set D of the next round from the sums of all clients' reports; rows are averaged evenly."""
        groups: Groups = exchange.memory.groups
        weight = self.settings.fairness / (GROUPS if self.settings.divided else 1)
        groups.lengths = step_lengths(
            uploads["performances"].sum(1), uploads["users"].sum(1), weight, self.settings.rho
        )
        groups.round = exchange.round + 1
        return uniform_rows(exchange.cell)

    def traffic(self, shared: Parameters, signals: Parameters, exchange: Exchange) -> Traffic:
        """Return the bytes of the reports, and of D for every client."""
        sent = super().traffic(shared, signals, exchange)
        return Traffic(sent.up, sent.down + 4 * GROUPS * exchange.cell.clients)

    def diagnostics(self, uploads: Parameters, exchange: Exchange) -> dict[str, Tensor]:
        """Return D of the less and of the more active, and by how much the latter are served better, [S, K]."""
        sums_, users = uploads["performances"].sum(1), uploads["users"].sum(1).clamp(min=0.5)
        gap = (sums_ / users).diff(dim=1)[:, 0]
        few, many = exchange.memory.groups.lengths.unbind(1)
        named = {"step_of_less_active": few, "step_of_more_active": many, "performance_gap": gap}
        return {name: value[:, None].expand(-1, exchange.cell.clients) for name, value in named.items()}
