"""FedAux, Theorem 3.2: as the kernel narrows, kernel averaging becomes sorting, also through a Conv1D."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np

from fedbench.kernels.gaussian import exact_average, kernel_average
from fedbench.seeds import generator
from fedbench.theorems._conv1d import conv1d, corrected_lipschitz, exact_lipschitz, printed_lipschitz
from fedbench.theorems._row import Row, norm
from fedbench.theorems._sorting import average, distance_bound, draw, plain_average

THEOREM = "FedAux, Theorem 3.2 (sorting limit)"
SAYS = (
    "As sigma goes to 0, kernel-averaged embeddings z go to the embeddings h themselves, so a Conv1D over z sorted by "
    "score goes to the Conv1D over h sorted by score (Frobenius norm). g is the smallest gap between two scores."
)
SIZES = (20, 60, 200, 1000)
WIDTHS_OVER_GAP = (1.0, 0.5, 0.3, 0.15)
WIDTH, TAPS = 8, 5
_row = partial(Row, THEOREM)


def measure() -> Iterator[Row]:
    """Yield the limit for several sizes and widths, the Conv1D's Lipschitz constant, and where the statement fails."""
    for nodes in SIZES:
        yield from _limit(nodes)
        yield from _fixed_width(nodes)
    yield from _ties()
    for name, kernel in _kernels().items():
        yield from _lipschitz(name, kernel)
    yield from _kernel_average()


def _limit(nodes: int) -> Iterator[Row]:
    h, scores = draw(nodes, WIDTH)
    kernel = generator("theorems", "fedaux conv1d").standard_normal((TAPS, WIDTH, WIDTH))
    gap = np.diff(scores).min()
    for ratio in WIDTHS_OVER_GAP:
        sigma, setting = ratio * gap, f"N = {nodes}, sigma = {ratio:g} g"
        z = average(scores, h, sigma)
        moved, through = norm(z - h), norm(conv1d(kernel, z) - conv1d(kernel, h))
        limit = distance_bound(scores, h, sigma)
        yield _row("||Z - H|| within the bound of lemma C.6", "printed", setting, moved, "<=", limit)
        bound = corrected_lipschitz(kernel) * moved
        yield _row("||Conv(Z) - Conv(H)|| <= sqrt(B) LIP ||Z - H||", "corrected", setting, through, "<=", bound)
    relative = through / norm(conv1d(kernel, h))
    yield _row("||Conv(Z) - Conv(H)|| / ||Conv(H)|| goes to 0", "printed", setting, relative, "<=", 1e-12)


def _fixed_width(nodes: int) -> Iterator[Row]:
    h, scores = draw(nodes, WIDTH)
    relative = norm(average(scores, h, 1e-4) - h) / norm(h)
    setting = f"N = {nodes}, sigma = 1e-4 = {1e-4 / np.diff(scores).min():.2g} g"
    yield _row("one small sigma serves every N: ||Z - H|| / ||H||", "misread", setting, relative, "<=", 1e-6)


def _ties() -> Iterator[Row]:
    h = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 0.0]])
    moved = norm(average(h[:, 0].copy(), h, 1e-6) - h)
    setting = "h = (1, 1), (1, -1), (-1, 0), a = (1, 0), sigma = 1e-6"
    yield _row("||Z - H|| goes to 0, without the proof's distinct scores", "printed", setting, moved, "<=", 1e-12)


def _kernels() -> Mapping[str, np.ndarray]:
    """Return a kernel whose taps add up, one drawn at random, and one whose taps read channels of their own."""
    width, random = 5, generator("theorems", "fedaux lipschitz")
    own = np.zeros((width, width, width))
    own[range(width), range(width), range(width)] = 1.0
    return {
        "moving average, B = 3 (every W = I)": np.stack([np.eye(width)] * 3),
        "moving average, B = 5 (every W = I)": np.stack([np.eye(width)] * 5),
        "moving average, B = 9 (every W = I)": np.stack([np.eye(width)] * 9),
        "Gaussian W, B = 5": random.standard_normal((5, width, width)),
        "B = 5, every tap reads a channel of its own": own,
    }


def _lipschitz(name: str, kernel: np.ndarray) -> Iterator[Row]:
    exact, setting = exact_lipschitz(kernel, 100), f"N = 100, width 5, {name}"
    claim = "the Conv1D's exact Lipschitz constant"
    yield _row(f"{claim} <= LIP", "printed", setting, exact, "<=", printed_lipschitz(kernel))
    yield _row(f"{claim} <= sqrt(B) LIP", "corrected", setting, exact, "<=", corrected_lipschitz(kernel))


def _kernel_average() -> Iterator[Row]:
    h, scores = draw(200, WIDTH)
    cases = (("1, fast form", 1.0, kernel_average), ("0.3, fast form", 0.3, kernel_average))
    for name, sigma, form in (*cases, ("g, by rows", np.diff(scores).min(), exact_average)):
        apart = float(np.abs(average(scores, h, sigma, form) - plain_average(scores, h, sigma)).max())
        claim = "FedAux's kernel average equals the plain N x N form"
        yield _row(claim, "check", f"N = 200, sigma = {name}", apart, "<=", 1e-12)
