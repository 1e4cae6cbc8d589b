"""All inner products of two tables, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from fedbench.kernels.products import inner_products


@pytest.mark.parametrize("columns", [0, 1, 1023, 1024, 1025, 5000])
def test_every_column_is_filled_whatever_their_number(columns: int) -> None:
    random = np.random.default_rng(columns)
    left, right = random.standard_normal((7, 5)), random.standard_normal((columns, 5))
    found = inner_products(torch.from_numpy(left), torch.from_numpy(right))
    assert found.dtype == torch.float64
    np.testing.assert_allclose(found.numpy(), np.einsum("nd,md->nm", left, right), rtol=1e-12, atol=1e-12)
