"""FedAux, Theorem 3.1: does the auxiliary projection vector (APV) a turn to the embeddings' principal axis?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from fedbench.seeds import generator
from fedbench.theorems._oja import alignment, covariance, descend, follow, loss_gradient
from fedbench.theorems._row import Row, norm

THEOREM = "FedAux, Theorem 3.1 (fidelity of the APV, Oja's rule)"
SAYS = (
    "The loss gradient in the APV a is -(2 / sigma^2) C a plus a bounded rest, C the covariance of the embeddings, "
    "so descent with renormalisation is Oja's rule a <- normalise(a - eta C a) and leads a to the largest eigenvector."
)
NODES, STEPS, ALIGNED, VANISHED = 60, 3000, 0.999, 1e-12
SPREAD = (1.0, 0.6, 0.4, 0.2, 0.02)  # smallest / largest < 1/19, so that 1.9 / lambda_max doesn't overshoot it
ROUND = (1.0, 0.8, 0.6, 0.5, 0.3)
SIGMAS = (1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-5)
_row = partial(Row, THEOREM)


def draw(variances: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return centred embeddings [NODES, width] whose covariance is diag(variances) rotated, and a unit APV."""
    random, width = generator("theorems", "fedaux oja", *map(str, variances)), len(variances)
    raw = random.standard_normal((NODES, width))
    white = np.linalg.qr(raw - raw.mean(0))[0] * np.sqrt(NODES)
    rotation = np.linalg.qr(random.standard_normal((width, width)))[0]
    a = random.standard_normal(width)
    return white * np.sqrt(variances) @ rotation.T, a / np.linalg.norm(a)


def measure() -> Iterator[Row]:
    """Yield where both signs of the rule lead, and how the true gradient compares with eq. 9."""
    for eta in (0.1, 0.5, 1.0, 1.9):
        yield from _rule(eta, "1.9 / lambda_max" if eta == 1.9 else f"{eta:g}")
    yield from _overshoot()
    yield from _second_axis()
    yield from _gradient()
    yield from _backpropagation()


def _rule(eta: float, label: str) -> Iterator[Row]:
    """Variances begin with lambda_max = 1, so eta is in units of 1 / lambda_max."""
    h, start = draw(SPREAD)
    c, setting = covariance(h), f"eigenvalues 1 ... 0.02, eta = {label}, {STEPS} steps"
    minus, plus = (follow(c, sign * eta, start, STEPS) for sign in (-1, 1))
    claim = "leads to the largest eigenvector (|cos|)"
    yield _row(f"a - eta C a {claim}", "printed", setting, alignment(minus, c, -1), ">=", ALIGNED)
    yield _row(f"a + eta C a {claim}", "corrected", setting, alignment(plus, c, -1), ">=", ALIGNED)
    claim = "a - eta C a leads to the smallest eigenvector (|cos|)"
    yield _row(claim, "corrected", setting, alignment(minus, c, 0), ">=", ALIGNED)


def _overshoot() -> Iterator[Row]:
    """Above 2 / (lambda_max + lambda_min) the top eigenvector has the largest |1 - eta lambda|; a changes sign."""
    h, start = draw(ROUND)
    c, claim = covariance(h), "a - eta C a leads to the largest eigenvector (|cos|)"
    a = follow(c, -1.9, start, STEPS)
    setting = "eigenvalues 1 ... 0.3, eta = 1.9 / lambda_max: overshoots"
    yield _row(claim, "printed", setting, alignment(a, c, -1), ">=", ALIGNED)


def _second_axis() -> Iterator[Row]:
    h, start = draw(SPREAD)
    c = covariance(h)
    beside = np.linalg.eigh(c)[1][:, -2] + 1e-6 * start
    minus, plus = (follow(c, step, beside / norm(beside), STEPS) for step in (-0.5, 0.5))
    claim, setting = "leaves the second eigenvector for the largest (|cos|)", "eta = 0.5, start 1e-6 beside it"
    yield _row(f"a - eta C a {claim}", "printed", setting, alignment(minus, c, -1), ">=", ALIGNED)
    yield _row(f"a + eta C a {claim}", "corrected", setting, alignment(plus, c, -1), ">=", ALIGNED)


def _gradient() -> Iterator[Row]:
    h, a = draw(SPREAD)
    ca = covariance(h) @ a
    found = [loss_gradient(h, a, sigma) for sigma in SIGMAS]
    norms = [norm(gradient) for gradient in found]
    for sigma, gradient, size in zip(SIGMAS, found, norms, strict=True):
        setting, stated = f"N = {NODES}, centred, sigma = {sigma:g}", 2 / sigma**2 * norm(ca)
        yield _row("norm of the gradient is 2 / sigma^2 ||C a||", "printed", setting, size, "within 10% of", stated)
        cosine = float(-gradient @ ca) / (size * norm(ca)) if size > VANISHED else 0.0
        yield _row("cosine of the gradient with -C a is 1", "printed", setting, cosine, ">=", 0.99)
    last = SIGMAS.index(1e-3)
    growth = float(np.log(norms[last] / norms[0]) / np.log(SIGMAS[last] / SIGMAS[0]))
    setting = f"sigma from {SIGMAS[0]:g} to {SIGMAS[last]:g}"
    yield _row("gradient norm grows as sigma^p, p = -2", "printed", setting, growth, "within 10% of", -2.0)
    yield _row(
        "the gradient vanishes as sigma goes to 0", "corrected", f"sigma = {SIGMAS[-1]:g}", norms[-1], "<=", VANISHED
    )
    apart = norm(loss_gradient(h, a, 1.0, 1.0) + loss_gradient(h, a, 1.0, -1.0))
    claim, stated = "gradients for W = I and W = -I add up to 4 / sigma^2 ||C a||", 4 * norm(ca)
    yield _row(claim, "printed", "sigma = 1", apart, "within 10% of", stated)


def _backpropagation() -> Iterator[Row]:
    """Eq. 9 doesn't contain the loss's W, the true gradient changes sign with it."""
    h, start = draw(SPREAD)
    c, claim = covariance(h), "descent on the true gradient leads to the"
    for sigma in (1.0, 0.5):
        minor, major = (descend(h, start, sigma, sign, rate=0.5, steps=1000) for sign in (1.0, -1.0))
        plus, minus = (f"loss with W = {w}, sigma = {sigma:g}, rate 0.5, 1000 steps" for w in ("I", "-I"))
        for setting, a in ((plus, minor), (minus, major)):
            yield _row(f"{claim} largest eigenvector (|cos|)", "printed", setting, alignment(a, c, -1), ">=", 0.99)
        yield _row(f"{claim} smallest eigenvector (|cos|)", "corrected", plus, alignment(minor, c, 0), ">=", 0.99)
