"""Which round is read, and the mean over clients: hand-made curves and an independent program."""

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedbench.configuration.table import Metric
from fedbench.errors import RecordError
from fedbench.records.store import Record, table_of
from fedbench.stats.curve import curve
from fedbench.stats.measures import selected_values
from fedbench.stats.selection import select
from tests.records.support import RUN, header_of, record_of

NAN = math.nan
# Mean validation by round: seed 0 is 0.2 0.6 0.6 (first of two best: round 2), seed 1 is 0.5 0.4 0.3 (round 1).
# Their mean is 0.35 0.5 0.45: common best round 2.
VAL = {0: [[0.1, 0.3], [0.5, 0.7], [0.6, 0.6]], 1: [[0.5, 0.5], [0.3, 0.5], [0.3, 0.3]]}
TEST = {0: [[0.0, 0.2], [0.4, 0.8], [0.9, 0.9]], 1: [[0.7, 0.9], [0.2, 0.2], [0.1, 0.3]]}


@pytest.mark.parametrize(
    ("rule", "rounds", "values"),
    [
        ("best_validation_round", (2, 1), [0.6, 0.8]),
        ("common_best_round", (2, 2), [0.6, 0.2]),
        ("last_round", (3, 3), [0.9, 0.2]),
    ],
)
def test_rule_by_hand(rule, rounds, values):
    chosen = select([record_of({"val": VAL, "test": TEST})], Metric(select=rule))
    assert chosen.rounds == rounds
    np.testing.assert_allclose(chosen.values, values, rtol=1e-12)


def test_equal_means_of_clients_tie_whatever_their_last_bits():
    val = [[0.0, 0.0, 0.15], [0.05, 0.05, 0.05]]  # as floats 0.049999999999999996 and 0.05000000000000001
    assert select([record_of({"val": {0: val}, "test": {0: val}}, clients=3)], Metric()).rounds == (1,)


def test_equal_means_of_seeds_tie_whatever_their_last_bits():
    val = {0: [[0.3], [0.1]], 1: [[0.2], [0.2]], 2: [[0.1], [0.3]]}  # 0.1 + 0.2 + 0.3 is 0.6000000000000001
    chosen = select([record_of({"val": val, "test": val})], Metric(select="common_best_round"))
    assert chosen.rounds == (1, 1, 1)


def test_scale_turns_the_record_into_the_table_unit():
    found = selected_values([record_of({"val": VAL, "test": TEST})], Metric(scale=100))
    assert found == pytest.approx({0: 60.0, 1: 80.0})


def test_a_client_without_nodes_is_left_out_of_the_mean():
    record = record_of({"val": {0: [[NAN, 0.4]]}, "test": {0: [[0.3, NAN]]}})
    assert curve([record], "accuracy", "val").values.tolist() == [[0.4]]
    assert select([record], Metric()).values.tolist() == [0.3]


def test_a_round_without_any_value_is_an_error():
    record = record_of({"val": {0: [[0.5, 0.5], [NAN, NAN]]}, "test": {0: [[0.5, 0.5], [0.5, 0.5]]}})
    with pytest.raises(RecordError, match="only NaN in round 2 of seed 0"):
        select([record], Metric())


def test_last_round_needs_no_validation_figures():
    assert select([record_of({"test": TEST})], Metric(select="last_round")).rounds == (3, 3)


def test_missing_validation_figures_are_an_error():
    with pytest.raises(RecordError, match=r"accuracy on val of .*\n.*no such rows"):
        select([record_of({"test": TEST})], Metric())


def test_figure_of_no_single_client_counts_only_without_clients():
    columns = {"seed": [0, 0, 0], "client": [-1, 0, 1], "round": [1] * 3, "split": ["test"] * 3}
    columns |= {"metric": ["accuracy"] * 3, "value": [0.9, 0.2, 0.4]}
    whole = pa.table(columns)
    mixed = Record(header_of(RUN, [0]), table_of(whole.to_pydict()))
    assert curve([mixed], "accuracy", "test").values.tolist() == [[pytest.approx(0.3)]]
    alone = Record(mixed.header, table_of(whole.slice(0, 1).to_pydict()))
    assert curve([alone], "accuracy", "test").values.tolist() == [[0.9]]


def test_a_seed_in_two_records_is_an_error():
    record = record_of({"val": VAL, "test": TEST})
    with pytest.raises(RecordError, match=r"seeds \[0, 1\] in more than one record"):
        select([record, record], Metric())


def test_seeds_with_different_rounds_are_an_error():
    with pytest.raises(RecordError, match="round 3 is missing for some seed"):
        curve([record_of({"test": {0: TEST[0], 1: TEST[1][:2]}})], "accuracy", "test")


def test_splits_with_different_rounds_are_an_error():
    record = record_of({"val": {0: VAL[0][:2]}, "test": {0: TEST[0]}})
    with pytest.raises(RecordError, match="other rounds than on test"):
        select([record], Metric())


value = st.integers(0, 20).map(lambda number: number / 20)
client = st.one_of(value, st.just(NAN))


@st.composite
def runs(draw):
    seeds, rounds, clients = (draw(st.integers(1, top)) for top in (4, 4, 4))
    shape = st.lists(st.lists(client, min_size=clients, max_size=clients), min_size=rounds, max_size=rounds)
    figures = {split: {seed: draw(shape) for seed in range(seeds)} for split in ("val", "test")}
    for by_seed in figures.values():
        for cells in (row for per_round in by_seed.values() for row in per_round):
            if all(map(math.isnan, cells)):
                cells[0] = draw(value)
    return figures


def by_plain_loops(figures):
    """Each seed's test mean at its first best validation round, in exact arithmetic."""

    def mean(row):
        known = [Fraction(round(20 * item), 20) for item in row if item == item]
        return sum(known) / len(known)

    chosen = {}
    for seed in figures["val"]:
        means = [mean(row) for row in figures["val"][seed]]
        chosen[seed] = float(mean(figures["test"][seed][means.index(max(means))]))
    return chosen


@settings(max_examples=60, deadline=None)
@given(runs(), st.randoms(use_true_random=False))
def test_order_of_rows_and_blocks_changes_nothing(figures, random):
    whole = selected_values([record_of(figures, clients=4)], Metric(scale=1))
    assert whole == pytest.approx(by_plain_loops(figures))
    blocks = [record_of({s: {seed: figures[s][seed]} for s in figures}, clients=4) for seed in figures["val"]]
    random.shuffle(blocks)
    assert selected_values([_shuffled(block, random) for block in blocks], Metric(scale=1)) == whole


def _shuffled(record, random):
    order = list(range(record.table.num_rows))
    random.shuffle(order)
    return Record(record.header, record.table.take(order))
