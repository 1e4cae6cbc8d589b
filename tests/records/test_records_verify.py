"""Retraining a sample: the draw, the comparison, and the command with a trainer of our own."""

import math

import pytest

import fedbench.verification.retrain
from fedbench.errors import RecordError
from fedbench.records.check import name_of
from fedbench.records.pack import Entry, Folder
from fedbench.verification.compare import compare
from fedbench.verification.retrain import draw, engine_trainer, retrain
from tests.records.support import RUN, flat, record_of


def tables(first, second):
    return record_of({"test": {3: [[first, 0.5]]}}).table, record_of({"test": {3: [[second, 0.5]]}}).table


@pytest.mark.parametrize(
    ("first", "second", "differing", "largest"),
    [(0.5, 0.5, 0, 0.0), (0.5, 0.75, 1, 0.25), (math.nan, math.nan, 0, 0.0), (math.nan, 0.5, 1, math.inf)],
)
def test_comparison_by_hand(first, second, differing, largest):
    found = compare(*tables(first, second), seed=3)
    assert (found.rows, found.missing, found.differing, found.largest) == (2, 0, differing, largest)


def test_tolerance():
    found = compare(*tables(0.5, 0.75), seed=3)
    assert found.within(0.25)
    assert not found.within(0.24)
    nothing = compare(*tables(0.5, 0.5), seed=4)
    assert not nothing.within(1.0)


def test_figures_that_are_not_retrained_count():
    found = compare(record_of(flat(0.5)).table, record_of({"test": flat(0.5)["test"]}).table, seed=0)
    assert (found.rows, found.missing) == (8, 4)
    assert not found.within(1.0)


def entries(*methods):
    records = [record_of(flat(0.5), run=RUN.model_copy(update={"method": method})) for method in methods]
    return [Entry(name_of(record.header), "e", record) for record in records]


def test_draw_is_without_replacement_and_repeatable():
    drawn = [(entry.name, seed) for entry, seed in draw(entries("a", "b", "c"), 6, seed=1)]
    assert len(set(drawn)) == 6
    assert drawn == [(entry.name, seed) for entry, seed in draw(entries("a", "b", "c"), 9, seed=1)]
    others = {tuple((e.name, s) for e, s in draw(entries("a", "b", "c"), 3, seed=seed)) for seed in range(5)}
    assert len(others) > 1


def test_outside_programs_are_not_drawn():
    outside = record_of(flat(0.5), settings={"program": ["x.R"]})
    with pytest.raises(RecordError, match="no record made by this package"):
        draw([Entry("x", "e", outside)], 1, seed=0)


def test_each_drawn_seed_is_trained_alone(world):
    world.fill()
    asked = []

    def train(run, seeds):
        asked.append((run.method, seeds))
        return record_of(flat(0.702, seeds=seeds), run=run)

    found = list(retrain(Folder(world.records), train, count=4, seed=0))
    assert [(item.entry.record.header.method, (item.seed,)) for item in found] == asked
    same = [item.entry.record.header.method == "local" for item in found]
    assert [item.comparison.within(0.0) for item in found] == same


@pytest.mark.parametrize(("figure", "status", "word"), [(0.702, 0, "same"), (0.7, 1, "DIFFERS")])
def test_command(world, capsys, monkeypatch, figure, status, word):
    def trainer(configs, results, device):
        return lambda run, seeds: record_of(flat(figure, seeds=seeds), run=run)

    monkeypatch.setattr(fedbench.verification.retrain, "engine_trainer", trainer)
    world.write(flat(0.702))
    assert world.run("verify", "--bundle", world.records, "--sample", 1) == status
    assert capsys.readouterr().out.startswith(word)


def test_files_are_those_of_the_sample_alone(world, capsys):
    world.write(flat(0.702))
    world.write(flat(0.5), RUN.model_copy(update={"method": "fedavg"}))
    assert world.run("verify", "--bundle", world.records, "--files", "--results", world.results) == 0
    assert capsys.readouterr().out == f"{world.results}/partitions/cora/metis-2.npz\n"


def test_engine_trainer_fits_the_engine(world):
    job = pytest.importorskip("fedbench.engine.job")
    asked = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job, "train", asked.append)
        engine_trainer(world.configs, world.results, "cpu")(RUN, (3,))
    assert asked[0].name == RUN
    assert asked[0].seeds == (3,)
    assert asked[0].dataset_file.exists()
    assert asked[0].partition_file.exists()
