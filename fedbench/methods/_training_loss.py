"""Loss of a model on a client's whole training data, without dropout: what fair averages weigh clients by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from fedbench.configuration.protocol import ModelSettings, TrainingSettings
from fedbench.methods.exchange import Trained
from fedbench.tasks.graph.evaluation import compressed


@dataclass(frozen=True)
class TrainingData:
    """The packs' whole training data as one batch each; made once a run. ``training``: the protocol's."""

    training: TrainingSettings
    _made: dict[int, Any] = field(default_factory=dict)

    def loss(self, trained: Trained) -> Tensor:
        """Return F_k, the mean loss of each packed client's model over its training nodes or graphs, [S, k]."""
        if trained.clients.start not in self._made:
            self._made[trained.clients.start] = _WHOLE[self.training.task](trained.block, self.training.model)
        whole = self._made[trained.clients.start]
        losses: Tensor = whole.loss(trained.network.forward(trained.packed, whole, None))
        return losses.view(-1, len(trained.clients))


def _all_nodes(block: Any, model: ModelSettings) -> Any:
    return block


def _all_graphs(block: Any, model: ModelSettings) -> Any:
    """Return all training graphs on colours: each is computed once a layer, so a pass costs next to nothing."""
    return compressed(block, block.train, len(model.hidden_widths))


_WHOLE: dict[str, Callable[[Any, ModelSettings], Any]] = {"node": _all_nodes, "graph": _all_graphs}
