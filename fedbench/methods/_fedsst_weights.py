"""From FedSST's structural signals to the clients' weights w, local epochs E_k and fusion weights alpha_k."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor

from fedbench.settings import Settings


class ScoreSettings(Settings):
    """Score of a client at relative distance r, and how scores become weights.

    score = base + far (1 - exp(-far_rate r)) + middle exp(-(r - centre)^2 / (2 spread^2)). The note gives the form and
    the centre; every other value is inferred.
    """

    delta: float = Field(1e-8, ge=0, description="in r = (S - min) / (max - min + delta) (inferred)")
    base: float = Field(1.0, ge=0, description="inferred")
    far: float = Field(0.5, ge=0, description="lambda_far (inferred)")
    far_rate: float = Field(3.0, ge=0, description="k_far (inferred)")
    middle: float = Field(1.0, ge=0, description="lambda_mid (inferred)")
    centre: float = Field(0.5, description="the note")
    spread: float = Field(0.2, gt=0, description="sigma_mid (inferred)")
    threshold: Literal["none", "clip", "floor"] = Field(
        "clip",
        description="applied to scores before they are scaled to sum 1: none, between `low` and `high` times their "
        "mean, or at least `low` times it. The note says 'threshold, then normalise'; the rule is inferred",
    )
    low: float = Field(0.5, ge=0, le=1, description="times the mean score (inferred)")
    high: float = Field(2.0, ge=1, description="times the mean score (inferred)")


class EpochSettings(Settings):
    """E_k = clip(round(base (1 + gain w_k)), least, most)."""

    base: int = Field(1, ge=1, description="E_base (inferred)")
    gain: float = Field(20.0, ge=0, description="lambda_reg; the note: best 20 in SM, 25 in SM-CV, 30 in SM-SN-CV")
    least: int = Field(1, ge=1, description="E_min (inferred)")
    most: int = Field(5, ge=1, description="E_max (inferred)")


class FusionSettings(Settings):
    """alpha_k = least + (most - least) w_k, theta_k^int = alpha_k theta_G + (1 - alpha_k) theta_k."""

    least: float = Field(0.1, ge=0, le=1, description="alpha_min (inferred)")
    most: float = Field(0.9, ge=0, le=1, description="alpha_max (the note)")
    weight: Literal["sum1", "max1"] = Field(
        "sum1", description="w as it is, which sums to 1 (as written), or divided by its largest entry"
    )
    start_from: Literal["global", "integrated"] = Field(
        "global",
        description="what a client starts the next round from: theta_G, or its own theta_k^int (inferred: the note "
        "calls the fusion personalised)",
    )
    evaluated: Literal["start", "integrated"] = Field(
        "start", description="what a client is evaluated on: what it starts from, or its own theta_k^int (inferred)"
    )


@dataclass(frozen=True)
class Standing:
    """What the server makes of the signals: ``signal`` S_st, ``distance`` r, ``weight`` w; float64[S, K] each."""

    signal: Tensor
    distance: Tensor
    weight: Tensor

    @classmethod
    def of(cls, signal: Tensor, settings: ScoreSettings) -> Standing:
        """Return distances and weights from S_st."""
        signal = signal.double()
        distance = relative_distance(signal, settings.delta)
        return cls(signal, distance, weights(distance, settings))

    def epochs(self, settings: EpochSettings) -> Tensor:
        """Return E_k, int64[S, K]; halves are rounded to the even number."""
        wanted = torch.round(settings.base * (1 + settings.gain * self.weight)).long()
        return wanted.clamp(settings.least, settings.most)

    def alpha(self, settings: FusionSettings) -> Tensor:
        """Return alpha_k."""
        largest = self.weight.amax(1, keepdim=True) if settings.weight == "max1" else 1.0
        return settings.least + (settings.most - settings.least) * self.weight / largest


def relative_distance(signal: Tensor, delta: float) -> Tensor:
    """Return r = (S - min) / (max - min + delta) over a seed's clients; all 0 where signals are equal."""
    least, most = signal.amin(1, keepdim=True), signal.amax(1, keepdim=True)
    spread = most - least + delta
    return (signal - least) / torch.where(spread > 0, spread, 1.0)


def weights(distance: Tensor, settings: ScoreSettings) -> Tensor:
    """Return w: thresholded scores, scaled to sum 1 over a seed's clients."""
    far = settings.far * (1 - torch.exp(-settings.far_rate * distance))
    middle = settings.middle * torch.exp(-((distance - settings.centre) ** 2) / (2 * settings.spread**2))
    score = THRESHOLDS[settings.threshold](settings.base + far + middle, settings)
    return score / score.sum(1, keepdim=True)


def _clipped(score: Tensor, settings: ScoreSettings) -> Tensor:
    mean = score.mean(1, keepdim=True)
    return torch.minimum(_raised(score, settings), settings.high * mean)


def _raised(score: Tensor, settings: ScoreSettings) -> Tensor:
    return torch.maximum(score, settings.low * score.mean(1, keepdim=True))


THRESHOLDS: dict[str, Callable[[Tensor, ScoreSettings], Tensor]] = {
    "none": lambda score, settings: score,
    "clip": _clipped,
    "floor": _raised,
}
