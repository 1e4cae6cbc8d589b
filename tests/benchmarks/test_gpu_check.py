"""What runs on a GPU alone must at least begin on a CPU: the problem and every method that is compared."""

from __future__ import annotations

from benchmarks.gpu_check import method_of, variants


def test_every_variant_that_is_compared_can_be_built() -> None:
    assert len({name for name, _ in variants()}) > 10
    for name in variants():
        assert method_of(name, rounds=2).training.rounds == 2
