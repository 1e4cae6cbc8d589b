"""LPSFed's margins: of a pair, their mean over all users and items, and the loss with them."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from fedbench.kernels.angles import angle_of_cosine, angle_of_logit
from fedbench.methods._lpsfed_popularity import contrastive
from fedbench.models.ranking import Scorer

ROUNDING = 1e-4  # of R + (pi - R) in single precision, and more
AT_ONCE = 64  # users; their pairs with ten thousand items then stay in a processor's cache
ANGLES = {"mlp_angle": angle_of_logit, "cosine": angle_of_cosine}
COSINES = {"mlp_angle": torch.tanh, "cosine": lambda score: score}
"""R, and cos R, from what the network is trained on: f, or a cosine."""


def margin_of(strength: Tensor, angle: Tensor) -> Tensor:
    """Return M_ui = min(gamma xi_ui, pi - R_ui) (equation 8), ``strength`` being gamma xi_ui."""
    return torch.minimum(strength, math.pi - angle)


def at_pi(angle: Tensor) -> Tensor:
    """Tell where R + M~ is cut at pi: the cosine there is -1 and has no slope."""
    return angle >= math.pi - ROUNDING


def bc_losses(scores: Tensor, margin: Tensor, tau: float, score: str) -> Tensor:
    """Return L_BC of each pair [m] (equation 9).

    Args:
        scores: of the pair taken and of those not taken, [m, 1 + negatives].
        margin: M~_ui [m]; R + M~ is cut at pi, where the cosine is smallest.
        tau: temperature.
        score: what the scores are, a key of `ANGLES`.
    """
    taken = torch.cos((ANGLES[score](scores[:, 0]) + margin).clamp(max=math.pi))
    return contrastive(torch.cat([taken.unsqueeze(1), COSINES[score](scores[:, 1:])], dim=1) / tau)


def mean_margin(scorer: Scorer, strength: Tensor, users: Tensor, items: Tensor, score: str) -> float:
    """Return M_c, the mean margin over all pairs (equation 10), some users at a time.

    Args:
        scorer: of the scores that the network is trained on.
        strength: gamma xi of every pair of codes, [user codes, item codes].
        users: code of each user.
        items: code of each item.
        score: what the scores are, a key of `ANGLES`.
    """
    total = 0.0
    for chosen in torch.arange(len(users), device=users.device).split(AT_ONCE):
        near = strength.index_select(0, users[chosen]).index_select(1, items)
        total += float(margin_of(near, ANGLES[score](scorer.scores(chosen))).sum(dtype=torch.float64))
    return total / (len(users) * len(items))
