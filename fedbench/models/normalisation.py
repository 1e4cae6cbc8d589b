"""Batch normalisation with running statistics, which are parameters that no gradient reaches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from fedbench.kernels.batch_norm import batch_norm, normalised
from fedbench.models.parameters import Parameter, Parameters, ones, zeros

_MOMENTUM = 0.1  # of running statistics; torch's default
_RUNNING = (".running_mean", ".running_variance")


def batch_norm_parameters(name: str, width: int) -> dict[str, Parameter]:
    """Declare gamma and beta, and the running statistics, which never leave a client."""
    return {
        f"{name}.weight": Parameter((width,), ones),
        f"{name}.bias": Parameter((width,), zeros),
        f"{name}.running_mean": Parameter((width,), zeros, private=True),
        f"{name}.running_variance": Parameter((width,), ones, private=True),
    }


def is_running(parameter: str) -> bool:
    """Tell whether a parameter is a running statistic."""
    return parameter.endswith(_RUNNING)


@dataclass(frozen=True)
class BatchNorms:
    """The batch norms of one forward pass.

    Args:
        parameters: the network's.
        training: whether to normalise by the batch, else by the running statistics.
        found: in training, what the running statistics are afterwards, name to [clients, width].
    """

    parameters: Parameters
    training: bool
    found: dict[str, Tensor] = field(default_factory=dict)

    def __call__(self, name: str, x: Tensor, sizes: Sequence[int], copies: int = 1) -> Tensor:
        """Return x [clients, slots, width] normalised.

        Args:
            name: of the norm.
            x: its input.
            sizes: rows of each client.
            copies: how often every row counts.
        """
        own = {kind: self.parameters[name + kind] for kind in (".weight", ".bias", *_RUNNING)}
        if not self.training:
            return normalised(x, own[_RUNNING[0]], own[_RUNNING[1]], own[".weight"], own[".bias"])
        out, mean, variance = batch_norm(x, sizes, own[".weight"], own[".bias"])
        self._note(name, {_RUNNING[0]: mean, _RUNNING[1]: variance}, [copies * size for size in sizes])
        return out

    @torch.no_grad()
    def _note(self, name: str, batch: Mapping[str, Tensor], counts: Sequence[int]) -> None:
        """Move the running statistics towards the batch's (variance: unbiased) where a client has two rows or more."""
        count = torch.tensor(counts, dtype=torch.float64, device=batch[_RUNNING[0]].device).unsqueeze(1)
        unbiased = {_RUNNING[0]: torch.ones_like(count), _RUNNING[1]: count / (count - 1).clamp(min=1)}
        for kind, values in batch.items():
            before = self.parameters[name + kind]
            moved = torch.lerp(before, values.detach() * unbiased[kind].to(values.dtype), _MOMENTUM)
            self.found[name + kind] = torch.where(count > 1, moved, before)


@torch.no_grad()
def keep_running(parameters: Parameters, found: Parameters) -> None:
    """Put the running statistics that a forward pass found into the parameters."""
    for name, values in found.items():
        parameters[name].copy_(values)
