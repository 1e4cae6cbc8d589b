"""FedAux, Theorem 3.3: is the global gap below the printed bound, round by round?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from fedbench.seeds import generator
from fedbench.theorems import _federations as federations
from fedbench.theorems._quadratics import Clients, Plan, expected_gaps, mixing_distance, printed_bound
from fedbench.theorems._row import Row

THEOREM = "FedAux, Theorem 3.3 (global linear convergence)"
SAYS = (
    "With L-smooth, mu-PL clients, gradient noise zeta and mixing matrices at spectral distance rho < 1 from plain "
    "averaging, the mean gap to the clients' own optima after T rounds of Q steps is at most (1 - eta mu)^(QT) gap_0 + "
    "eta L zeta^2 / (2 mu) + 2 eta L rho^2 / (mu (1 - rho)^2)."
)
COUNT, WIDTH, MU = 5, 3, 0.2  # L = 1, eta = 1 / (2 L), the largest that is allowed
ROUNDS, SHOWN, DRAWS = 100, (1, 10, 100), 60
_row = partial(Row, THEOREM)


def federation(apart: float, zeta: float) -> Clients:
    """Return the clients of the table; ``apart`` = 0 gives them one optimum."""
    return federations.clients(generator("theorems", "fedaux clients"), COUNT, WIDTH, MU, apart, zeta)


def plan(mixing: np.ndarray, local_steps: int = 1) -> Plan:
    """Return 100 rounds from (2, 2, 2)."""
    return Plan(mixing, 0.5, local_steps, ROUNDS, np.full(WIDTH, 2.0))


def ratios(clients: Clients, setting: Plan) -> np.ndarray:
    """Return gap / bound by round; above 1 the bound is violated."""
    gaps = expected_gaps(clients, setting)
    return np.asarray(gaps / printed_bound(clients, setting, gaps[0]))


def measure() -> Iterator[Row]:
    """Yield gap against bound for one optimum and for several, for scaled losses, and for random settings."""
    for name, (clients, setting) in _settings().items():
        yield from _by_round(name, clients, setting)
    yield from _units()
    yield from _floor()
    yield from _random("one optimum", 0.0)
    yield from _random("optima N(0, I)", 1.0)
    yield from _random("optima 10 N(0, I)", 10.0)


def _settings() -> Mapping[str, tuple[Clients, Plan]]:
    mixings = _mixings()
    plain, half, own = (mixings[name] for name in list(mixings)[:3])
    noisy, apart = federation(0.0, 1.0), federation(1.0, 0.0)
    table = {f"one optimum, {name}": (federation(0.0, 0.0), plan(mixing)) for name, mixing in mixings.items()}
    table["one optimum, zeta = 1, rho = 0"] = (noisy, plan(plain))
    table["one optimum, zeta = 1, rho = 0.5"] = (noisy, plan(half))
    table |= {f"optima N(0, I), {name}": (apart, plan(mixing)) for name, mixing in mixings.items()}
    table["optima N(0, I), zeta = 1, rho = 0, Q = 5"] = (federation(1.0, 1.0), plan(plain, 5))
    table[f"optima 3 N(0, I), {list(mixings)[2]}"] = (federation(3.0, 0.0), plan(own))
    return table


def _mixings() -> Mapping[str, np.ndarray]:
    apvs = generator("theorems", "fedaux apvs").standard_normal((COUNT, 64))
    table = {f"rho = {rho:g}": federations.blend(COUNT, rho) for rho in (0.0, 0.5)}
    for alpha in (1.0, 10.0):
        mixing = federations.similarity(apvs, alpha)
        rho = mixing_distance(mixing)
        table[f"FedAux's matrix for APVs from N(0, I), alpha = {alpha:g}, rho = {rho:.5f}"] = mixing
    table["all lean to one client, rho = 0.5"] = federations.leaning(COUNT, 0.5)
    return table | {f"rho = {rho:g}": federations.blend(COUNT, rho) for rho in (0.1, 0.99)}


def _by_round(name: str, clients: Clients, setting: Plan) -> Iterator[Row]:
    gaps = expected_gaps(clients, setting)
    bounds = printed_bound(clients, setting, gaps[0])
    for t in SHOWN:
        yield _row("E gap <= bound", "printed", f"{name}; round {t}", gaps[t], "<=", bounds[t])
    closest = float((gaps / bounds)[1:].max())
    yield _row("largest gap / bound of all rounds", "printed", f"{name}; rounds 1 to {ROUNDS}", closest, "<=", 1.0)


def _units() -> Iterator[Row]:
    """Losses times s with eta / s take the same path: the gap grows by s, the bound's last term shrinks by s."""
    base, setting = federation(1.0, 0.0), plan(federations.blend(COUNT, 0.5))
    for scale in (0.1, 1.0, 10.0, 100.0):
        clients = replace(base, curvatures=scale * base.curvatures)
        last = ratios(clients, replace(setting, eta=setting.eta / scale))[-1]
        where = f"optima N(0, I), rho = 0.5, all losses x {scale:g}, eta / {scale:g}; round {ROUNDS}"
        yield _row(
            "gap / bound, which a change of the loss's unit should leave alone", "printed", where, last, "<=", 1.0
        )


def _floor() -> Iterator[Row]:
    """Averaging one-step clients with H = I can't get below half the variance of their optima."""
    optima = federation(1.0, 0.0).optima
    clients = Clients(np.tile(np.eye(WIDTH), (COUNT, 1, 1)), optima)
    gap = expected_gaps(clients, plan(federations.blend(COUNT, 0.0)))[-1]
    floor = float(np.sum((optima - optima.mean(0)) ** 2) / (2 * COUNT))
    setting = f"H = I, optima N(0, I), plain averaging, round {ROUNDS}"
    yield _row("the personalisation error vanishes as rho goes to 0: gap", "printed", setting, gap, "<=", 1e-9)
    yield _row("gap stays at 1/(2K) sum ||c_k - mean c||^2", "corrected", setting, gap, "within 10% of", floor)


def _random(name: str, apart: float) -> Iterator[Row]:
    worst = [_draw(apart, number) for number in range(DRAWS)]
    where = f"{DRAWS} random settings (2 to 6 clients, mu, zeta, rho, Q), {name}"
    broken = float(np.mean([ratio > 1 for ratio in worst]))
    yield _row("share of settings whose bound is violated in some round", "printed", where, broken, "<=", 0.0)
    yield _row("largest gap / bound of any setting and round", "printed", where, max(worst), "<=", 1.0)


def _draw(apart: float, number: int) -> float:
    random = generator("theorems", "fedaux random settings", number)
    count, local_steps = (int(random.integers(low, high)) for low, high in ((2, 7), (1, 6)))
    mu, rho = 10 ** random.uniform(-2, -0.1), random.uniform(0.0, 0.999)
    zeta = random.choice([0.0, 1.0])
    clients = federations.clients(random, count, WIDTH, mu, apart, zeta)
    start = 2 * random.standard_normal(WIDTH)
    mixing = federations.drawn(random, count, rho)
    return float(ratios(clients, Plan(mixing, 0.5, local_steps, ROUNDS // 2, start))[1:].max())
