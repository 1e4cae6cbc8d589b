"""Summaries, verdicts, rank correlations, paired differences and costs, each against figures worked out by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedbench.configuration.table import Metric
from fedbench.stats.measures import measure, metrics_of
from fedbench.stats.ranking import rank_correlation
from fedbench.stats.summary import paired, summarise
from fedbench.stats.verdict import kind_of, rule_in_words, verdict
from tests.records.support import costs, flat, record_of


def test_summary_by_hand():
    population = summarise({0: 1.0, 1: 2.0, 2: 6.0})
    assert (population.mean, population.n) == (3.0, 3)
    assert population.std == pytest.approx(math.sqrt(14 / 3))
    assert summarise({0: 1.0, 1: 2.0, 2: 6.0}, ddof=1).std == pytest.approx(math.sqrt(7))


def test_one_seed_has_no_sample_deviation():
    assert summarise({0: 1.0}).std == 0.0
    assert math.isnan(summarise({0: 1.0}, ddof=1).std)


@given(st.permutations(list(range(5))))
def test_summary_ignores_the_order_of_seeds(order):
    values = {0: 0.1, 1: 1e16, 2: 1.0, 3: -1e16, 4: 12.0}  # in another order the sum is another
    assert summarise({seed: values[seed] for seed in order}) == summarise(values)


def test_paired_uses_common_seeds_only():
    found = paired({0: 1.0, 1: 2.0, 2: 4.0}, {1: 1.0, 2: 5.0, 3: 9.0})
    assert found is not None
    assert (found.difference.mean, found.difference.n, found.wins) == (0.0, 2, 1)
    assert found.difference.std == pytest.approx(math.sqrt(2))
    assert paired({0: 1.0}, {1: 1.0}) is None


@pytest.mark.parametrize(
    ("difference", "std", "published_std", "expected"),
    [
        (None, 1.0, None, "not published"),
        (0.5, 0.0, 0.0, "reproduced"),
        (-0.5, 0.0, 0.0, "reproduced"),
        (0.51, 0.0, 0.0, "off by +0.51"),
        (5.0, 1.5, 2.0, "within spread"),  # 2 * sqrt(2.25 + 4) = 5
        (-5.01, 1.5, 2.0, "off by -5.01"),
        (1.9, 1.0, None, "within spread"),
        (2.1, 1.0, None, "off by +2.10"),
        (0.6, math.nan, 0.31, "within spread"),
    ],
)
def test_verdict(difference, std, published_std, expected):
    assert verdict(difference, std, published_std, within=0.5) == expected


def test_verdicts_are_counted_without_their_figure():
    assert kind_of("off by -3.10") == kind_of("off by +0.60") == "off by"
    assert kind_of("reproduced") == "reproduced"


def test_rule_in_words_names_the_tolerance():
    assert "at most 0.75 points" in rule_in_words(0.75, "points")


def test_rank_correlation_by_hand():
    # Ranks 1 2 3 4 against 2 1 4 3: sum of squared rank differences 4, so rho = 1 - 6*4 / (4*15) = 0.6;
    # 4 concordant and 2 discordant pairs of 6, so tau = 2/6.
    found = rank_correlation([10, 20, 30, 40], [2, 1, 4, 3])
    assert found is not None
    assert found.spearman == pytest.approx(0.6)
    assert found.kendall == pytest.approx(1 / 3)
    assert found.n == 4


@pytest.mark.parametrize(("ours", "published"), [([1, 2], [1, 2]), ([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [5, 5, 5])])
def test_no_rank_correlation_where_there_is_no_order(ours, published):
    assert rank_correlation(ours, published) is None


def test_communication_by_hand():
    found = measure("communication", [record_of(flat(0.5), costs=costs((0, 1)))], Metric())
    means = {name: summary.mean for name, summary in found.items()}
    # 1000 bytes up and 600 down in the 2 rounds of the settings.
    assert means == {"bytes_up_per_round": 500, "bytes_down_per_round": 300, "bytes_total": 1600, "parameters": 50}
    assert all(summary.std == 0 for summary in found.values())


def test_rounds_of_an_outside_program_are_those_in_its_table():
    settings = {"program": ["x"], "values": {}}
    found = measure("communication", [record_of(flat(0.5), costs=costs((0, 1)), settings=settings)], Metric())
    assert found["bytes_up_per_round"].mean == 500


def test_seconds_by_hand_over_two_blocks():
    blocks = [
        record_of(flat(0.5, seeds=seeds), costs=costs(seeds), peak_memory_mb=memory)
        for seeds, memory in (((0, 1), 100.0), ((2,), 400.0))
    ]
    found = measure("seconds", blocks, Metric())
    assert found["training_seconds"].mean == pytest.approx((1 + 2 + 3) / 3)
    assert found["total_seconds"].std == pytest.approx(math.sqrt(2 / 3))
    assert found["peak_memory_mb"].mean == pytest.approx((100 + 100 + 400) / 3)
    assert tuple(found) == metrics_of("seconds", Metric())


def test_costs_that_are_not_stated_are_left_out():
    assert measure("seconds", [record_of(flat(0.5))], Metric()) == {}
