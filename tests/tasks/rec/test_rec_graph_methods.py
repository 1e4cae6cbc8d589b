"""What FedPerGNN, FedHGNN and FedSSP promise alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fedbench.engine.run import describe
from fedbench.methods.registry import build
from fedbench.tasks.task import Place
from tests.reference.plans import small_settings
from tests.tasks.rec.test_rec_training import training
from tests.tasks.rec.toys import toy_rec


def method_of(name: str) -> Any:
    model = {"width": 4, "layers": 2, "embedding": {"frequencies": 6}}
    return build(name, small_settings(name), training(model=model, rounds=4))


@pytest.mark.parametrize("name", ["fedpergnn", "fedhgnn", "fedssp_rec"])
def test_prepared_clients_are_asked_for_the_same(name: str) -> None:
    """Test pairs with items that a client hasn't are counted too, whatever a method adds to its pairs."""
    problem, method = toy_rec(24, 60, shared=8), method_of(name)
    data = method.prepare(problem, describe(problem, method, (0,), Place())).data[0]
    for own, client in zip(data, problem.client_data, strict=True):
        assert np.array_equal(own.test_pairs, client.test_pairs)
        assert client.test_pairs.sum() > client.test.shape[1]
