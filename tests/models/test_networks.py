"""What networks declare and compute, by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from fedbench.configuration.protocol import ModelSettings
from fedbench.models.gnn import GNN
from fedbench.models.masks import Masks, masked
from fedbench.models.parameters import draw, fan_in_uniform, glorot, glorot_bias


def test_small_masks_count_as_zero_at_evaluation_only() -> None:
    network = GNN(2, 2, ModelSettings(layers=1, width=2), masks=Masks(0.1))
    weight, mask = torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]), torch.tensor([[[0.05, -0.09], [-0.2, 1.5]]])
    parameters = {"conv1.weight": weight, "conv1.mask": mask}
    effective = network.effective(parameters)
    assert effective["conv1.weight"].tolist() == [[[0.0, 0.0], [pytest.approx(-0.6), 6.0]]]
    assert set(effective) == {"conv1.weight"}
    assert torch.equal(masked(parameters, "conv1"), weight * mask)
    assert torch.equal(masked(effective, "conv1"), effective["conv1.weight"])


def test_declared_shapes() -> None:
    shapes = {name: p.shape for name, p in GNN(5, 3, ModelSettings(width=4)).parameters().items()}
    assert shapes == {
        "conv1.weight": (5, 4), "conv1.bias": (4,), "conv2.weight": (4, 4), "conv2.bias": (4,),
        "classifier.weight": (3, 4), "classifier.bias": (3,),
    }  # fmt: skip
    kipf = GNN(5, 3, ModelSettings(width=4, readout="convolution")).parameters()
    assert set(kipf) == {"conv1.weight", "conv1.bias", "classifier.weight", "classifier.bias"}


@pytest.mark.parametrize(
    ("initial", "shape", "bound"),
    [
        (glorot, (30, 70), np.sqrt(6 / 100)),
        (glorot_bias, (2000,), np.sqrt(6 / 2001)),
        (fan_in_uniform(25), (40, 25), 0.2),
    ],
)
def test_initial_values_fill_their_range(initial, shape, bound) -> None:  # type: ignore[no-untyped-def]
    values = initial(np.random.default_rng(0), shape)
    assert values.shape == shape
    assert 0.97 * bound < np.abs(values).max() <= bound
    assert abs(values.mean()) < 0.1 * bound


def test_a_layer_starts_alike_in_every_network_that_has_it() -> None:
    plain, hidden = (GNN(5, 3, ModelSettings(width=4), masks=masks).parameters() for masks in (None, Masks()))
    one, other, third = draw(plain, 7), draw(hidden, 7), draw(plain, 8)
    assert np.array_equal(one["conv1.weight"], other["conv1.weight"])
    assert not np.array_equal(one["conv1.weight"], third["conv1.weight"])
