"""The low-rank and the chunked Gaussian averages against the full kernel."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import poisson
from torch import Tensor
from torch.autograd import gradcheck

from fedbench.kernels import gaussian
from fedbench.kernels.frequencies import frequencies_for, frequency_features
from fedbench.kernels.gaussian import exact_average, kernel_average, low_rank_average
from fedbench.kernels.series import series_features, terms_for


def plain(scores: Tensor, values: Tensor, present: Tensor, sigma: float) -> Tensor:
    result = torch.zeros_like(values)
    for b in range(len(scores)):
        nodes = present[b].bool()
        s = scores[b][nodes]
        kernel = torch.exp(-((s[:, None] - s[None, :]) ** 2) / sigma**2)
        result[b][nodes] = kernel @ values[b][nodes] / kernel.sum(1, keepdim=True)
    return result


def block(bound: float, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    random = torch.Generator().manual_seed(seed)
    scores = (torch.rand(2, 60, generator=random, dtype=torch.float64) * 2 - 1) * bound
    values = torch.randn(2, 60, 3, generator=random, dtype=torch.float64)
    present = torch.ones(2, 60, dtype=torch.float64)
    present[1, 45:] = 0
    return scores * present, values * present.unsqueeze(2), present


@settings(max_examples=40, deadline=None)
@given(st.floats(0.05, 3.0), st.floats(0.4, 3.0), st.integers(0, 1000))
def test_low_rank_form_keeps_its_bound(bound: float, sigma: float, seed: int) -> None:
    scores, values, present = block(bound, seed)
    terms = terms_for(bound, sigma, 1e-12)
    ours = low_rank_average(series_features(scores, sigma, terms), values, present)
    assert torch.allclose(ours, plain(scores, values, present, sigma), atol=1e-9, rtol=0)


@pytest.mark.parametrize(("bound", "sigma"), [(1.0, 1.0), (1.0, 0.3), (3.0, 1.0), (0.2, 2.0)])
@pytest.mark.parametrize("tolerance", [1e-4, 1e-8, 1e-15])
def test_rank_is_enough_and_not_far_from_the_least(bound: float, sigma: float, tolerance: float) -> None:
    rank, mean = terms_for(bound, sigma, tolerance), 2 * (bound / sigma) ** 2
    assert poisson.sf(rank - 1, mean) <= tolerance
    assert rank <= max(poisson.isf(tolerance, mean) + 3, math.ceil(mean) + 1)


def test_too_small_a_rank_is_seen() -> None:
    scores, values, present = block(1.0)
    off = low_rank_average(series_features(scores, 1.0, 3), values, present) - plain(scores, values, present, 1.0)
    assert float(off.abs().max()) > 1e-3


@pytest.mark.parametrize("entries", [1, 60 * 7, 1 << 24])
def test_exact_form_in_chunks(monkeypatch: pytest.MonkeyPatch, entries: int) -> None:
    monkeypatch.setattr(gaussian, "_CHUNK_ENTRIES", entries)
    scores, values, present = block(4.0)
    assert torch.allclose(exact_average(scores, values, present, 0.1), plain(scores, values, present, 0.1))


@settings(max_examples=40, deadline=None)
@given(st.floats(0.05, 40.0), st.floats(0.05, 3.0), st.sampled_from([1e-4, 1e-8, 1e-13]), st.integers(0, 1000))
def test_frequencies_keep_their_error(bound: float, sigma: float, tolerance: float, seed: int) -> None:
    scores = block(bound, seed)[0]
    features = frequency_features(scores, sigma, *frequencies_for(2 * bound, sigma, tolerance))
    kernel = torch.exp(-(((scores.unsqueeze(2) - scores.unsqueeze(1)) / sigma) ** 2))
    error = (features @ features.transpose(1, 2) - kernel).abs().max()
    assert float(error) <= tolerance + 1e-13


def test_too_few_frequencies_and_too_short_a_period_are_seen() -> None:
    scores = block(5.0)[0]
    kernel = torch.exp(-((scores.unsqueeze(2) - scores.unsqueeze(1)) ** 2))
    count, spacing = frequencies_for(10.0, 1.0, 1e-8)
    for wrong in ((count // 2, spacing), (count, 1.6 * spacing)):
        features = frequency_features(scores, 1.0, *wrong)
        assert float((features @ features.transpose(1, 2) - kernel).abs().max()) > 1e-5


@pytest.mark.parametrize(
    ("bound", "sigma", "form"),
    [(1.0, 1.0, "series_features"), (2.0, 0.5, "frequency_features"), (1.0, 0.02, "exact_average")],
)
def test_form_is_chosen_by_range_and_sigma(
    monkeypatch: pytest.MonkeyPatch, bound: float, sigma: float, form: str
) -> None:
    used: list[str] = []
    for name in ("series_features", "frequency_features", "exact_average"):
        original = getattr(gaussian, name)
        monkeypatch.setattr(gaussian, name, lambda *a, n=name, f=original: used.append(n) or f(*a))
    scores, values, present = (torch.cat([part, part, part], dim=1) for part in block(bound))
    result = kernel_average(scores, values, present, sigma)
    assert used == [form]
    assert torch.allclose(result, plain(scores, values, present, sigma), atol=1e-9)


def narrow(scores: Tensor, values: Tensor, present: Tensor, sigma: float) -> Tensor:
    return low_rank_average(series_features(scores, sigma, 30), values, present)


def wide(scores: Tensor, values: Tensor, present: Tensor, sigma: float) -> Tensor:
    features = frequency_features(scores, sigma, *frequencies_for(2.0, sigma, 1e-15))
    return low_rank_average(features, values, present)


@pytest.mark.parametrize("form", [narrow, wide, exact_average])
def test_gradients(form: object) -> None:
    scores, values, present = (x[:, ::6].contiguous() for x in block(1.0))
    inputs = (scores.requires_grad_(), values.requires_grad_())
    assert gradcheck(lambda s, v: form(s, v, present, 0.8), inputs)  # type: ignore[operator]


def test_padding_gives_zero_and_takes_no_part() -> None:
    scores, values, present = block(1.0)
    garbage = values + (1 - present).unsqueeze(2) * 1e3
    for form in (narrow, wide, exact_average):
        assert torch.allclose(form(scores, garbage, present, 1.0), plain(scores, values, present, 1.0))
