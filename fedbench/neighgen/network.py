"""NeighGen's network: encoder H^e, generator H^g = (dGen, fGen), and the classifier it is trained with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from fedbench.kernels.sparse import SparseMatrix
from fedbench.models.parameters import Parameter, Parameters, draw, fan_in_uniform
from fedbench.neighgen.draws import Draws, Layer
from fedbench.neighgen.settings import NeighGenSettings


def declare(width: int, classes: int, settings: NeighGenSettings) -> dict[str, Parameter]:
    """Declare the parameters of one client.

    fGen's last layer is one [widths[1], width] block for each of the ``predicted_neighbours``, so that only blocks in
    use are computed. Start as released: uniform in +-1/sqrt(out) for convolutions, torch's default for linear layers.
    """
    hidden, latent, (first, second) = settings.encoder_width, settings.latent, settings.generator_widths
    declared = _layer("encoder.0", width, hidden, hidden) | _layer("encoder.1", hidden, latent, latent)
    declared |= _layer("classifier.0", width, hidden, hidden) | _layer("classifier.1", hidden, classes, classes)
    declared |= _layer("count", latent, 1, latent)
    declared |= _layer("generator.0", latent, first, latent) | _layer("generator.1", first, second, first)
    for block in range(settings.predicted_neighbours):
        declared |= _layer(f"generator.out.{block}", second, width, second)
    return declared


def _layer(name: str, incoming: int, outgoing: int, bound: int) -> dict[str, Parameter]:
    start = fan_in_uniform(bound)
    return {f"{name}.weight": Parameter((incoming, outgoing), start), f"{name}.bias": Parameter((outgoing,), start)}


def start(
    declared: Mapping[str, Parameter], seed: int, client: int, dtype: torch.dtype, device: torch.device
) -> dict[str, Tensor]:
    """Draw a client's own initial parameters, one at a time, since the last layer is large."""
    return {name: _draw_one(name, one, seed, client).to(device, dtype) for name, one in declared.items()}


def _draw_one(name: str, parameter: Parameter, seed: int, client: int) -> Tensor:
    stream = f"neighgen.{client}.{name}"
    return torch.from_numpy(draw({stream: parameter}, seed)[stream])


@dataclass(frozen=True)
class NeighGen:
    """The forward functions over one client's parameters (leaves of autograd)."""

    parameters: Parameters
    settings: NeighGenSettings

    def encode(self, support: SparseMatrix, graph: SparseMatrix, draws: Draws | None) -> Tensor:
        """Return z [nodes, latent] from features and D^-1 (A + I); without ``draws`` nothing is dropped."""
        hidden = torch.relu(graph @ (support @ self._weight("encoder.0")) + self._bias("encoder.0"))
        return torch.relu(self._second("encoder.1", hidden, graph, draws, Layer.ENCODER))

    def count(self, z: Tensor) -> Tensor:
        """DGen: return n~_v = ReLU(theta^d z_v), [nodes]."""
        return torch.relu(self._linear("count", z)).squeeze(1)

    def generate(self, z: Tensor, counts: Tensor, draws: Draws, *, drop: bool) -> Tensor:
        """FGen: return x~_v^p, p < counts[v], [sum of counts, width], in the order of `places`.

        Args:
            z: [nodes, latent], nodes with at least one generated neighbour only.
            counts: int64 [nodes].
            draws: noise and dropout.
            drop: whether units are dropped (training).
        """
        hidden = torch.relu(self._linear("generator.0", z + draws.noise(*z.shape)))
        hidden = torch.relu(self._linear("generator.1", hidden))
        hidden = draws.drop(hidden, Layer.GENERATOR) if drop else hidden
        blocks = range(self.settings.predicted_neighbours)
        return torch.cat([torch.tanh(self._linear(f"generator.out.{p}", hidden[counts > p])) for p in blocks])

    def classify(self, features: SparseMatrix, generated: Tensor, graph: SparseMatrix, draws: Draws | None) -> Tensor:
        """Return logits [nodes + generated, classes] on a mended graph, generated nodes after the real ones."""
        weight = self._weight("classifier.0")
        support = torch.cat([features @ weight, generated @ weight])
        hidden = torch.relu(graph @ support + self._bias("classifier.0"))
        logits = self._second("classifier.1", hidden, graph, draws, Layer.CLASSIFIER)
        return torch.relu(logits) if self.settings.classifier_relu else logits

    def _second(self, name: str, hidden: Tensor, graph: SparseMatrix, draws: Draws | None, layer: Layer) -> Tensor:
        hidden = hidden if draws is None else draws.drop(hidden, layer)
        return graph @ (hidden @ self._weight(name)) + self._bias(name)

    def _linear(self, name: str, values: Tensor) -> Tensor:
        return torch.addmm(self._bias(name), values, self._weight(name))

    def _weight(self, name: str) -> Tensor:
        return self.parameters[f"{name}.weight"]

    def _bias(self, name: str) -> Tensor:
        return self.parameters[f"{name}.bias"]


def places(counts: Tensor, most: int) -> Tensor:
    """Return the node of each generated neighbour: those with counts > 0, then those with counts > 1, and so on."""
    return torch.cat([torch.nonzero(counts > p).squeeze(1) for p in range(most)])


def whole(predicted: Tensor, settings: NeighGenSettings) -> Tensor:
    """Return predicted counts as int64 in 0 .. predicted_neighbours."""
    to_whole = {"round": torch.round, "truncate": torch.trunc}[settings.counts]
    return to_whole(predicted.detach()).clamp(0, settings.predicted_neighbours).long()
