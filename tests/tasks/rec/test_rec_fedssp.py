"""FedSSP for recommendation: the encoder, the consensus, and what is shared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from fedbench.engine.cohort import start_cohort
from fedbench.engine.run import describe, run
from fedbench.errors import ConfigurationError
from fedbench.methods.registry import build
from fedbench.models.eigenvalue_encoder import EigenvalueEncoder
from fedbench.models.parameters import draw
from fedbench.tasks.task import Place
from tests.reference.match import series
from tests.tasks.rec.test_rec_training import training
from tests.tasks.rec.toys import toy_rec

DOUBLE, PHI = Place(torch.float64), 6
SMALL = {"width": 8, "heads": 2}


def settings_of(**changes: Any) -> Any:
    model = {"backbone": "lgcn", "layers": 2, "width": 4, "embedding": {"frequencies": PHI}}
    return training(model=model, **changes)


def method_of(own: dict[str, Any], **changes: Any) -> Any:
    return build("fedssp_rec", SMALL | own, settings_of(**changes))


def test_the_encoder_is_torchs_attention_block() -> None:
    encoder, generator = EigenvalueEncoder(8, 2, 100.0, 3), torch.Generator().manual_seed(0)
    p = {name: torch.from_numpy(value)[None] for name, value in draw(encoder.parameters(), 0).items()}
    values = torch.rand(1, 5, generator=generator, dtype=torch.float64)
    attention, norms = nn.MultiheadAttention(8, 2, batch_first=True).double(), [nn.LayerNorm(8).double()] * 2
    with torch.no_grad():
        stacked = {
            part: [p[f"encoder.{x}.{part}"][0] for x in ("query", "key", "value")] for part in ("weight", "bias")
        }
        attention.in_proj_weight.copy_(torch.cat([w.T for w in stacked["weight"]]))
        attention.in_proj_bias.copy_(torch.cat(stacked["bias"]))
        attention.out_proj.weight.copy_(p["encoder.joined.weight"][0].T)
        attention.out_proj.bias.copy_(p["encoder.joined.bias"][0])
        z = encoder.code(values) @ p["encoder.code.weight"][0] + p["encoder.code.bias"][0]
        inner = norms[0](z)
        z = z + attention(inner, inner, inner)[0]
        hidden = nn.functional.gelu(norms[1](z) @ p["encoder.first.weight"][0] + p["encoder.first.bias"][0])
        z = z + hidden @ p["encoder.second.weight"][0] + p["encoder.second.bias"][0]
        expected = z @ p["encoder.decoder.weight"][0] + p["encoder.decoder.bias"][0]
        found = encoder.kernels(p, values, torch.ones(1, 5, dtype=torch.bool))
        assert torch.allclose(found, expected, atol=1e-12)
        longer = torch.cat([values, torch.ones(1, 2, dtype=torch.float64)], dim=1)
        padded = encoder.kernels(p, longer, torch.arange(7)[None] < 5)
    assert torch.allclose(padded[:, :5], expected, atol=1e-12)


@pytest.mark.parametrize(
    ("shared", "prefix"), [("encoder", "encoder."), ("code", "encoder.code."), ("nothing", "none")]
)
def test_vectors_and_preferences_stay(shared: str, prefix: str) -> None:
    problem, method = toy_rec(24, 60, shared=7), method_of({"shared": shared})
    cohort = start_cohort(describe(problem, method, (0,), DOUBLE), method, problem, [problem.client_data])
    assert set(cohort.shared) == {n for n in cohort.packs[0].parameters if n.startswith(prefix)}
    assert not cohort.rows
    numbers = sum(cohort.parameters[name][0].numel() for name in cohort.shared)
    means = 2 * 4 if shared != "nothing" else 0
    outcome = run(method, problem, (0,), DOUBLE)
    assert outcome.bytes_up == outcome.bytes_down == 2 * 3 * 4 * (numbers + means)


def test_the_consensus_acts_from_the_second_round_on() -> None:
    problem = toy_rec(12, 45, shared=6)
    with_it, without = (
        series(run(method_of({"tau": tau}), problem, (0,), DOUBLE).history, "train", "loss") for tau in (1e4, 0.0)
    )
    assert np.allclose(with_it[0], without[0], atol=1e-12)
    assert (with_it[1] > without[1] + 1e-3).all()


def test_odd_widths_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="multiple of heads"):
        method_of({"width": 9})
