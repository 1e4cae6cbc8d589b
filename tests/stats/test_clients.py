"""Figures over clients, by hand: the mode, ddof, the last rounds, Jain's index, and weights against 1 / clients."""

import math

import numpy as np
import pytest

from fedbench.configuration.table import Metric
from fedbench.errors import RecordError
from fedbench.stats.clients import departure, jain, over_clients
from fedbench.stats.selection import select
from tests.records.support import record_of

# Rounds 1 to 3 of two clients; the last two count below.
TEST = {0: [[0.0, 0.0], [0.6, 0.8], [0.6, 0.6]], 1: [[1.0, 1.0], [0.4, 0.4], [0.2, 0.8]]}
NAMES = ("average", "deviation", "worst", "jain")


def metric(**changes):
    how = {key: changes.pop(key) for key in ("mode", "ddof") if key in changes}
    return Metric(select="last_rounds", last=2, over_clients=how, **changes)


def found(records, given):
    return {name: (value.mean, value.std, value.n) for name, value in over_clients(NAMES, records, given).items()}


def test_per_round_by_hand():
    record = record_of({"test": TEST})
    ours = found([record], metric())
    assert ours["average"] == pytest.approx((55, 10, 2))  # 65 and 45
    assert ours["deviation"] == pytest.approx((10, 5, 2))  # (10 + 0) / 2 and (0 + 30) / 2
    assert ours["worst"] == pytest.approx((45, 15, 2))  # 60 and 30
    first, second = (1.4**2 / (2 * 1.0) + 1) / 2, (1 + 1 / (2 * 0.68)) / 2
    assert ours["jain"][:2] == pytest.approx(((first + second) / 2, (first - second) / 2))


def test_of_means_is_one_figure_of_the_clients_means():
    ours = found([record_of({"test": TEST})], metric(mode="of_means"))
    # Clients' means over two rounds and two seeds: 45 and 65.
    assert ours["average"] == pytest.approx((55, math.nan, 2), nan_ok=True)
    assert ours["deviation"] == pytest.approx((10, math.nan, 2), nan_ok=True)
    assert ours["worst"][0] == pytest.approx(45)


def test_ddof_1_divides_by_one_client_less():
    ours = found([record_of({"test": TEST})], metric(ddof=1))
    assert ours["deviation"][0] == pytest.approx(10 * math.sqrt(2))


def test_the_average_is_what_a_plain_table_reads():
    record = record_of({"test": TEST})
    read = select([record], metric())
    assert read.rounds == (3, 3)
    assert 100 * read.values.mean() == pytest.approx(found([record], metric())["average"][0])


def test_rounds_count_in_training_not_in_evaluations():
    record = record_of({"test": {0: [[0.1, 0.1], [0.5, 0.5]]}})
    table = record.table.set_column(2, "round", [[10, 10, 20, 20]])
    sparse = type(record)(record.header, table.cast(record.table.schema))
    assert select([sparse], metric()).values.tolist() == [0.5]  # round 10 isn't among the last two of twenty
    assert select([sparse], metric().model_copy(update={"last": 11})).values.tolist() == [pytest.approx(0.3)]


def test_a_run_of_one_round_is_read_there():
    assert found([record_of({"test": {0: [[0.2, 0.6]]}})], metric())["average"][0] == pytest.approx(40)


def test_a_client_without_a_value_counts_nowhere():
    ours = found([record_of({"test": {0: [[0.4, math.nan]]}})], metric())
    assert (ours["average"][0], ours["deviation"][0], ours["jain"][0]) == pytest.approx((40, 0, 1))


def test_the_order_of_seed_blocks_changes_nothing():
    parts = [record_of({"test": {seed: TEST[seed]}}) for seed in TEST]
    assert found(parts[::-1], metric()) == found([record_of({"test": TEST})], metric())


def test_seeds_with_other_rounds_are_an_error():
    parts = [record_of({"test": {0: TEST[0]}}), record_of({"test": {1: TEST[1][:2]}})]
    with pytest.raises(RecordError, match="10 values of 2 seeds, 3 rounds and 2 clients"):
        over_clients(NAMES, parts, metric())


@pytest.mark.parametrize(("values", "expected"), [([3, 3, 3], 1), ([5, 0, 0, 0], 0.25), ([1, 3], 0.8), ([0, 0], 1)])
def test_jain_by_hand(values, expected):
    assert jain(np.array(values, float)) == pytest.approx(expected)


def test_departure_is_in_multiples_of_equal_weights():
    even = {"none": {0: [[0.5, 0.5], [0.5, 0.5]]}}
    uneven = {"none": {0: [[0.5, 0.5], [0.4, 0.6]]}}
    same = departure([record_of(even, metric="weight")], "weight")
    other = departure([record_of(uneven, metric="weight")], "weight")
    assert (same.low, same.high, same.departed) == (1, 1, False)
    assert (other.low, other.high, other.departed) == (pytest.approx(0.8), pytest.approx(1.2), True)
    assert departure([record_of({"test": TEST})], "weight") is None
