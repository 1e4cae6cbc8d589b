"""Accuracy of every client's model, on its own nodes or on the whole graph; and how well its members can be told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from fedbench.configuration.protocol import TrainingSettings
from fedbench.engine.cohort import Cohort, Pack
from fedbench.methods.base import Method
from fedbench.models.parameters import Parameters
from fedbench.tasks.membership import attack_auc
from fedbench.tasks.node import EVALUATED_SPLITS, NodeBlock, pack
from fedbench.tasks.node_arrays import NodeProblem

Figures = dict[tuple[str, str], Tensor]
"""(metric, split) to a figure of every client, [S, k]."""
Evaluate = Callable[[Pack, Parameters, Any, bool], Figures]
"""From a pack, its parameters as evaluated [S * k, ...], the method's memory, and whether the run ends here."""


def due(training: TrainingSettings, round: int) -> bool:
    """Tell whether a round is evaluated: every ``evaluate_every``-th, and the last."""
    return round % training.evaluate_every == 0 or round == training.rounds


def evaluation_of(method: Method[Any], cohort: Cohort, problem: NodeProblem) -> Evaluate:
    """Return the evaluation that the protocol names."""
    kinds = {"client": lambda: _on_clients(method, cohort), "whole_graph": lambda: _on_whole_graph(cohort, problem)}
    return kinds[cohort.training.evaluated_on]()


def _on_clients(method: Method[Any], cohort: Cohort) -> Evaluate:
    """Evaluate each client on its own nodes; the attack's AUC, at the end, is that against its own model."""

    def evaluate(pack: Pack, effective: Parameters, memory: Any, last: bool) -> Figures:
        block = method.seen(pack.block, pack.clients, memory)
        logits = cohort.network.forward(effective, block, None)
        found = {("accuracy", split): values for split, values in block.accuracy(logits).items()}
        found |= {("attack_auc", "none"): attack_auc(block, logits)} if last else {}
        return {key: values.view(len(cohort.cell.seeds), -1) for key, values in found.items()}

    return evaluate


def _on_whole_graph(cohort: Cohort, problem: NodeProblem) -> Evaluate:
    """Evaluate each client's model on all clients' nodes in the whole graph, edges between clients included."""
    cell, backbone = cohort.cell, cohort.training.model.backbone
    block = pack([[problem.whole_graph()]], problem, backbone, dtype=cell.dtype, device=cell.device)

    def evaluate(pack: Pack, effective: Parameters, memory: Any, last: bool) -> Figures:
        found = [_overall(block, _logits(cohort, effective, place, block)) for place in range(len(pack.members))]
        return {
            ("accuracy", split): torch.stack([each[split] for each in found]).view(len(cell.seeds), -1)
            for split in EVALUATED_SPLITS
        }

    return evaluate


def _logits(cohort: Cohort, effective: Parameters, place: int, block: NodeBlock) -> Tensor:
    own = {name: stack[place : place + 1] for name, stack in effective.items()}
    return cohort.network.forward(own, block, None)


def _overall(block: NodeBlock, logits: Tensor) -> dict[str, Tensor]:
    """Return the share of right answers over all nodes of each split."""
    counts = {split: block.members[split].counts for split in EVALUATED_SPLITS}
    return {
        split: torch.nansum(accuracy * counts[split]) / counts[split].sum()
        for split, accuracy in block.accuracy(logits).items()
    }
