"""How near clients' low-pass spectra are to the anchor's, and what they therefore take from the average."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from fedbench.methods._lpsfed_settings import SimilaritySettings

_ZERO = 1e-6  # spectra are computed in single precision, where a zero comes out within 1e-7


def divergences(settings: SimilaritySettings, anchor: Tensor, clients: Tensor) -> Tensor:
    """Return rho_c = KL(K_R || K_c) = sum_i K_R(i) log(K_R(i) / K_c(i)) , float64[S, K].

    Args:
        settings: how K becomes a distribution.
        anchor: K_R [S, Phi].
        clients: K_c [S, K, Phi]; 1 stands where a client has no more eigenvalues under 1.
    """
    anchor, clients = anchor.double().unsqueeze(1), clients.double()
    if settings.zeros == "dropped":
        anchor, clients = _without_zeros(anchor), _without_zeros(clients)
    if settings.phi_pad == "truncate_all_to_min":
        kept = int(torch.cat([(anchor < 1).sum(2), (clients < 1).sum(2)], dim=1).min().clamp(min=1))
        anchor, clients = anchor[..., :kept], clients[..., :kept]
    of_anchor, of_clients = (DISTRIBUTIONS[settings.kl_normalize](k, settings) for k in (anchor, clients))
    return (of_anchor * (of_anchor / of_clients).log()).sum(2)


def _without_zeros(k: Tensor) -> Tensor:
    """Return the ascending ``k`` [..., Phi] less what counts as 0, and 1 behind the rest."""
    taken = (k < _ZERO).sum(-1, keepdim=True) + torch.arange(k.shape[-1], device=k.device)
    return k.gather(-1, taken.clamp(max=k.shape[-1] - 1)).masked_fill(taken >= k.shape[-1], 1.0)


def _over_sum(k: Tensor, settings: SimilaritySettings) -> Tensor:
    raised = _raised(k, settings)
    return raised / raised.sum(-1, keepdim=True)


def _raised(k: Tensor, settings: SimilaritySettings) -> Tensor:
    """Return K + epsilon; a learned kernel may be negative, which counts as 0."""
    return k.clamp(min=0) + settings.epsilon


def _softmax(k: Tensor, settings: SimilaritySettings) -> Tensor:
    return torch.softmax(k, dim=-1)


def _histogram(k: Tensor, settings: SimilaritySettings) -> Tensor:
    """Return shares of equal parts of [0, 1], one count added to each; what lies outside counts at the ends."""
    part = (k * settings.bins).long().clamp(0, settings.bins - 1)
    counts = torch.ones(*k.shape[:-1], settings.bins, dtype=k.dtype, device=k.device)
    counts.scatter_add_(-1, part, torch.ones_like(k))
    return counts / counts.sum(-1, keepdim=True)


DISTRIBUTIONS: dict[str, Callable[[Tensor, SimilaritySettings], Tensor]] = {
    "sum": _over_sum,
    "softmax": _softmax,
    "hist": _histogram,
    "raw": _raised,
}


def similarities(rho: Tensor, scale: str) -> Tensor:
    """Return rho bar [S, K]: 1 - (rho - min) / (max - min) , or 1 - rho / max; 1 where all are equal."""
    low = rho.amin(1, keepdim=True) if scale == "minmax" else torch.zeros_like(rho[:, :1])
    range = rho.amax(1, keepdim=True) - low
    return torch.where(range > 0, 1 - (rho - low) / range, torch.ones_like(rho))


def mixing_of(similarity: Tensor) -> Tensor:
    """Return W = diag(1 - rho bar) + rho bar 1' / K, [S, K, K]: theta <- rho bar theta bar + (1 - rho bar) theta."""
    return torch.diag_embed(1 - similarity) + (similarity / similarity.shape[1]).unsqueeze(2)
