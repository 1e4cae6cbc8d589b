"""Inner products of chosen rows against gathers, and their gradients."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from fedbench.kernels import pairs
from fedbench.kernels.pairs import pair_products


def drawn(users: int, items: int, m: int, k: int) -> tuple[torch.Tensor, ...]:
    random = torch.Generator().manual_seed(0)
    tables = (torch.randn(n, 3, generator=random, dtype=torch.float64, requires_grad=True) for n in (users, items))
    return *tables, torch.randint(users, (m,), generator=random), torch.randint(items, (m, k), generator=random)


def gathered(users: torch.Tensor, items: torch.Tensor, user: torch.Tensor, item: torch.Tensor) -> torch.Tensor:
    return (users[user].unsqueeze(1) * items[item]).sum(2)


@pytest.mark.parametrize(("m", "k"), [(1, 1), (7, 2), (40, 5)])
def test_values_and_gradients_are_those_of_gathers(m: int, k: int) -> None:
    """Some rows are chosen often, others never."""
    parts = drawn(6, 9, m, k)
    found, expected = pair_products(*parts), gathered(*parts)
    assert torch.allclose(found, expected, rtol=0, atol=1e-12)
    push = torch.randn(m, k, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    ours, theirs = (torch.autograd.grad((each * push).sum(), parts[:2]) for each in (found, expected))
    assert all(torch.allclose(a, b, rtol=0, atol=1e-12) for a, b in zip(ours, theirs, strict=True))
    assert torch.autograd.gradcheck(lambda u, i: pair_products(u, i, *parts[2:]), parts[:2])


def test_tables_and_gradients_need_not_be_contiguous() -> None:
    users, items, user, item = drawn(6, 9, 20, 2)
    wide = torch.cat([users, users], dim=1)[:, ::2].detach().requires_grad_()
    both = (wide, items, user, item.T.contiguous().T)
    ours, theirs = (torch.autograd.grad(f(*both).T.square().sum(), both[:2]) for f in (pair_products, gathered))
    assert all(torch.allclose(a, b, rtol=0, atol=1e-12) for a, b in zip(ours, theirs, strict=True))


def test_a_table_without_gradient_gets_none() -> None:
    users, items, user, item = drawn(6, 9, 20, 2)
    only = torch.autograd.grad(pair_products(users.detach(), items, user, item).sum(), items)[0]
    assert torch.allclose(only, torch.autograd.grad(gathered(users, items, user, item).sum(), items)[0])


@pytest.mark.parametrize("count", [200, 2**16 + 5])
def test_keys_of_more_than_16_bits_are_sorted_too(count: int) -> None:
    keys = np.random.default_rng(0).integers(0, count, 3000)
    keys[:2] = count - 1
    found = pairs._order(torch.from_numpy(keys), count).numpy()
    assert np.array_equal(found, np.argsort(keys, kind="stable"))
