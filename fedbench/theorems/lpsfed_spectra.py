"""LPSFed, Theorem 3.1: the divergence of two low-pass spectra settles as graphs grow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np

from fedbench.seeds import generator
from fedbench.theorems._blocks import Blocks, divergence, lowest, uneven
from fedbench.theorems._row import Row

THEOREM = "LPSFed, Theorem 3.1 (divergence of low-pass spectra)"
SAYS = (
    "For random graphs of n1 and n2 nodes, the KL divergence of the Phi lowest eigenvalues is off its limit by "
    "epsilon or more with probability at most 4 Phi exp(-c min(n1, n2) epsilon^2 / 8), and the error is bounded by "
    "the smallest eigengap. c is in no source that could be read: below it is the largest with which the bound holds "
    "at the smallest size. At a fixed probability the bound's epsilon falls as n^(-1/2)."
)
SIZES = (50, 100, 200, 400)
GRAPHS = 40
BLOCKS = 4
AXES = ("users (and items) of the smaller graph", "deviation from the limit, 9th of 10")
Pair = tuple[Blocks, Blocks]
_row = partial(Row, THEOREM)


def measure() -> Iterator[Row]:
    """Yield the rate for communities alone and with noise, what the bound says beside it, and what it needs."""
    for name, (pair, phi) in _settings().items():
        found = deviations(pair, phi)
        setting = f"{name}, Phi = {phi}, n = {SIZES[0]} to {SIZES[-1]}, {GRAPHS} pairs of graphs"
        yield _row("exponent of n in the deviation <= that of the bound", "printed", setting, rate(found), "<=", -0.5)
        yield from _bound(found, phi, setting)
    yield from _smaller()
    yield from _gap()
    yield from _sparse()
    yield from _negative()


def _settings() -> Mapping[str, tuple[Pair, int]]:
    """Return pairs of models and Phi: as many eigenvalues as communities, or far more, which are noise."""
    pair = Blocks(uneven(BLOCKS, 0.1)), Blocks(uneven(BLOCKS, 0.3))
    return {"communities alone": (pair, BLOCKS), "communities and noise": (pair, 8 * BLOCKS)}


def deviations(pair: Pair, phi: int, sizes: tuple[int, ...] = (), second: int | None = None) -> np.ndarray:
    """Return |KL - its limit| of random pairs, [sizes, graphs]; the second graph has ``second`` users, or as many."""
    limit = divergence(pair[0].limit(phi), pair[1].limit(phi))
    random = generator("theorems", "lpsfed spectra", phi, second or 0)
    return np.array([[_off(pair, phi, (n, second or n), limit, random) for _ in range(GRAPHS)] for n in sizes or SIZES])


def _off(pair: Pair, phi: int, sizes: tuple[int, int], limit: float, random: np.random.Generator) -> float:
    first, second = (lowest(model.draw(size, random), phi) for model, size in zip(pair, sizes, strict=True))
    return abs(divergence(first, second) - limit)


def upper(found: np.ndarray) -> np.ndarray:
    """Return what nine in ten deviations stay below, of each size."""
    return np.asarray(np.quantile(found, 0.9, axis=1))


def rate(found: np.ndarray) -> float:
    """Return the exponent of n in `upper`, by least squares."""
    return float(np.polyfit(np.log(SIZES[: len(found)]), np.log(upper(found)), 1)[0])


def largest_c(found: np.ndarray, phi: int) -> float:
    """Return the largest c with which no share of the smallest graphs breaks the bound."""
    ordered = np.sort(found[0])
    shares = 1 - np.arange(len(ordered)) / len(ordered)  # of graphs that are off by as much or more
    return float((np.log(4 * phi / shares) * 8 / (SIZES[0] * ordered**2)).min())


def bound(phi: int, c: float, share: float = 0.1) -> np.ndarray:
    """Return the epsilon at which the bound is ``share``, of each size."""
    return np.sqrt(8 * np.log(4 * phi / share) / (c * np.array(SIZES)))


def _bound(found: np.ndarray, phi: int, setting: str) -> Iterator[Row]:
    c = largest_c(found, phi)
    for n, off, limit in list(zip(SIZES, upper(found), bound(phi, c), strict=True))[1:]:
        claim = f"deviation of 9 in 10 within the bound, c = {c:.3g} from n = {SIZES[0]}"
        yield _row(claim, "printed", f"{setting}; n = {n}", off, "<=", limit)


def _smaller() -> Iterator[Row]:
    """The smaller graph counts: the other may grow alone without much effect."""
    pair, phi = _settings()["communities and noise"]
    both, one = (upper(deviations(pair, phi, (SIZES[0],), second))[0] for second in (SIZES[0], SIZES[-1]))
    setting = f"Phi = {phi}, n1 = {SIZES[0]}, n2 = {SIZES[0]} and {SIZES[-1]}"
    claim = "a larger second graph alone leaves half of the deviation or more"
    yield _row(claim, "printed", setting, one / both, ">=", 0.5)


def _gap() -> Iterator[Row]:
    """Clearer communities, whose every gap is larger: does the divergence come nearer to its limit?"""
    other = Blocks(uneven(BLOCKS, 0.3))
    models = [Blocks(uneven(BLOCKS, *chances)) for chances in ((0.05, 0.4), (0.3, 0.8))]
    offs = [upper(deviations((model, other), BLOCKS, SIZES[:1]))[0] for model in models]
    gaps = " and ".join(f"{np.diff(model.limit(BLOCKS + 1)).min():.2g}" for model in models)
    setting = f"Phi = {BLOCKS}, n = {SIZES[0]}, smallest gap {gaps}"
    yield _row("deviation at the larger gap / at the smaller", "printed", setting, offs[0] / offs[1], "<=", 1.0)


def _sparse() -> Iterator[Row]:
    """Graphs that grow at a constant degree, as data do: the limit is not the communities'."""
    pair, phi = _settings()["communities and noise"]
    offs = []
    for n in SIZES:
        thin = [Blocks(model.chances, density=10 / (n * float(model.chances.mean()))) for model in pair]
        offs.append(deviations((thin[0], thin[1]), phi, (n,))[0])
    setting = f"Phi = {phi}, n = {SIZES[0]} to {SIZES[-1]}, 10 pairs a user"
    yield _row("holds at a constant degree: exponent of n", "misread", setting, rate(np.array(offs)), "<=", -0.5)


def _negative() -> Iterator[Row]:
    """sum_i K_R(i) log(K_R(i) / K_c(i)) of eigenvalues that aren't made a distribution."""
    anchor, client = np.array([0.1, 0.2]), np.array([0.5, 0.6])
    value = float(anchor @ np.log(anchor / client))
    setting = "K_R = (0.1, 0.2), K_c = (0.5, 0.6)"
    yield _row("the divergence of eigenvalues as printed is at least 0", "printed", setting, value, ">=", 0.0)


def curves() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return lines to plot, x and y: the measured deviation and the bound, of each setting."""
    lines, x = {}, np.array(SIZES, dtype=float)
    for name, (pair, phi) in _settings().items():
        found = deviations(pair, phi)
        lines[f"{name}: measured"] = x, upper(found)
        lines[f"{name}: bound"] = x, bound(phi, largest_c(found, phi))
    return lines
