"""Figures of tables over clients: panels of unlike partitions, local steps, every client; the records' numbers."""

import numpy as np
import pytest

from fedbench.configuration.suite import load_suite, rows_only
from fedbench.errors import ConfigurationError, DataError, RecordError
from fedbench.figures import accuracy_by_round, accuracy_by_steps, client_accuracy, sweep
from fedbench.figures._scene import Scene
from fedbench.figures._steps import steps_by_round
from fedbench.files import write_arrays
from fedbench.records.pack import open_records
from fedbench.records.store import Record, read_record, table_of, write_record
from fedbench.stats.cells import table_named
from tests.records.support import RUN, TABLE, rows_of

TRAINING = {"rounds": 3, "local_epochs": 2, "batch_size": 10, "evaluate_every": 1}
TEST = {seed: [[0.1, 0.1], [0.4, 0.6], [0.6, 0.8]] for seed in (0, 1)}
CLIENTS = {
    **TABLE, "kind": "clients", "metric": {"select": "last_rounds", "last": 2}, "published": None, "floor": "majority",
    "rows": [{"method": "majority"}, {"method": "local"}, {"method": "fedavg"}],
}  # fmt: skip


def scene_of(world, **changes):
    suite = load_suite("s", world.configs)
    table = table_named("toy", suite, world.configs)
    return Scene(table, tuple(suite.blocks_of("toy")), world.configs, open_records(world.records), world.results,
                 **changes)  # fmt: skip


def partition(world, dataset, name, **meta):
    write_arrays(world.results / "datasets" / f"{dataset}.npz", {}, {})
    write_arrays(world.results / "partitions" / dataset / f"{name}.npz", {}, meta)


@pytest.fixture
def filled(world):
    world.configure("protocols", "toy", {"title": "Toy", "source": "-", "training": TRAINING})
    world.suite(toy=CLIENTS)
    partition(world, "cora", "metis-2", clients=2, train=[25, 10], member=["mutag", "bzr"])
    for method in ("local", "fedavg"):
        world.write({"test": TEST}, RUN.model_copy(update={"method": method}))
    world.write({"test": {seed: [[0.5, 0.3]] for seed in (0, 1)}}, RUN.model_copy(update={"method": "majority"}))
    return world


def cell_of(scene, method):
    return next(cell for cell in scene.cells if cell.run.method == method)


def with_epochs(path, epochs):
    record = read_record(path)
    more = rows_of({"none": dict.fromkeys((0, 1), epochs)}, "local_epochs")
    old = record.table.to_pydict()
    write_record(path, Record(record.header, table_of({name: [*old[name], *more[name]] for name in old})))


def test_steps_are_batches_times_epochs_of_all_clients(filled):
    scene = scene_of(filled)
    # 25 graphs are three batches of ten, 10 are one: four a local epoch, two epochs a round.
    np.testing.assert_allclose(steps_by_round(scene, cell_of(scene, "fedavg")), [8, 16, 24])


def test_steps_follow_the_epochs_that_a_method_states(filled):
    with_epochs(filled.records / "toy/cora/metis-2/fedavg/default/seeds-0-1.parquet", [[1, 1], [5, 2], [2, 3]])
    scene = scene_of(filled)
    np.testing.assert_allclose(steps_by_round(scene, cell_of(scene, "fedavg")), [4, 4 + 17, 4 + 17 + 9])


def test_epochs_of_some_rounds_alone_are_an_error(filled):
    path = filled.records / "toy/cora/metis-2/fedavg/default/seeds-0-1.parquet"
    with_epochs(path, [[1, 1], [5, 2], [2, 3]])
    record = read_record(path)
    left = [row for row in record.table.to_pylist() if (row["metric"], row["round"]) != ("local_epochs", 1)]
    write_record(path, Record(record.header, table_of({key: [row[key] for row in left] for key in left[0]})))
    scene = scene_of(filled)
    with pytest.raises(RecordError, match="local epochs of 2 rounds up to 3"):
        steps_by_round(scene, cell_of(scene, "fedavg"))


def lines(axes):
    return [line for line in axes.get_lines() if len(line.get_xdata()) == 3]


def test_curves_are_means_as_the_table_reads_them(filled):
    by_steps = accuracy_by_steps.draw(scene_of(filled)).axes[0]
    by_round = accuracy_by_round.draw(scene_of(filled)).axes[0]
    for axes, x in ((by_steps, [0.008, 0.016, 0.024]), (by_round, [1, 2, 3])):
        first = lines(axes)[0]
        np.testing.assert_allclose(first.get_xdata(), x)
        np.testing.assert_allclose(first.get_ydata(), [10, 30, 60])  # the last point is the table's figure
    levels = [line for line in by_round.get_lines() if list(line.get_ydata()) == [40.0, 40.0]]
    assert len(levels) == 1  # the floor


def test_every_client_is_a_line_with_a_mark_a_method(filled):
    axes = client_accuracy.draw(scene_of(filled)).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["mutag", "bzr"]
    marks = [line for line in axes.get_lines() if line.get_linestyle() == "None"]
    for mark in marks:
        np.testing.assert_allclose(np.asarray(mark.get_xdata(), float), [50, 70])
        np.testing.assert_allclose(np.round(np.asarray(mark.get_ydata(), float)), [0, 1])
    assert len(marks) == 2
    floor = axes.collections[0].get_segments()
    np.testing.assert_allclose([segment[0, 0] for segment in floor], [50, 30])


def test_clients_of_one_data_set_have_numbers(filled):
    partition(filled, "cora", "metis-2", clients=2, train=[25, 10], member=["mutag", "mutag"])
    axes = client_accuracy.draw(scene_of(filled)).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["0", "1"]


def test_a_partition_that_is_not_there_is_left_out_on_demand(filled):
    sets = {"cora": "metis-2", "a": "metis-3"}
    filled.suite(toy={**CLIENTS, "datasets": list(sets), "partitions": [], "partition_of": sets})
    with pytest.raises(DataError, match=r"metis-3\.npz"):
        client_accuracy.draw(scene_of(filled))
    left = client_accuracy.draw(scene_of(filled, partial=True)).axes[1]
    assert [label.get_text() for label in left.get_yticklabels()] == ["0", "1", "2"]
    assert [text.get_text() for text in left.texts] == ["not run"]


def test_unlike_partitions_have_one_panel_each_in_rows_of_three(filled):
    sets = {"cora": "metis-2", **{name: f"metis-{k}" for k, name in enumerate("abc", start=3)}}
    filled.suite(toy={**CLIENTS, "datasets": list(sets), "partitions": [], "partition_of": sets, "floor": None,
                      "rows": [{"method": "fedavg"}]})  # fmt: skip
    for dataset, name in sets.items():
        partition(filled, dataset, name, clients=2, train=[25, 10])
        filled.write({"test": TEST}, RUN.model_copy(update={"method": "fedavg", "dataset": dataset, "partition": name}))
    for module in (accuracy_by_round, accuracy_by_steps, client_accuracy):
        axes = module.draw(scene_of(filled)).axes
        assert [panel.get_title() for panel in axes] == [*(", ".join(place) for place in sets.items()), "", ""]
        assert [panel.axison for panel in axes] == [True] * 4 + [False] * 2


def test_a_figure_of_some_rows(filled):
    table = rows_only(scene_of(filled).table, ["fedavg", "majority"])
    assert [row.method for row in table.rows] == ["majority", "fedavg"]
    where = ["--configs", filled.configs, "--records", filled.records, "--results", filled.results]
    out = ["--suite", "s", "--out", filled.root]
    assert filled.run("figure", "accuracy-by-round", "--only", "fedavg", *where, *out) == 0
    one = (filled.root / "accuracy-by-round.png").read_bytes()
    assert filled.run("figure", "accuracy-by-round", *where, *out) == 0
    assert (filled.root / "accuracy-by-round.png").read_bytes() != one
    with pytest.raises(ConfigurationError, match="no row fedsst/default"):
        rows_only(table, ["fedsst"])


SWEEPS = [
    {"setting": "method.gain", "label": "gain", "log": False, "values": {"fedaux/default": 20}},
    {"setting": "method.most", "label": "most", "log": False, "values": {"fedaux/default": 0.9}},
]


def test_two_settings_have_a_panel_each_and_share_the_default(world):
    given = {"default": {}, "gain-5": {"gain": 5.0}, "most-0": {"most": 0.1}}
    variants = {name: {"method": method} for name, method in given.items()}
    world.configure("methods", "fedaux", {"label": "FedAux", "variants": variants})
    rows = [{"method": "local"}, *({"method": "fedaux", "variant": name} for name in given)]
    world.suite(toy={**TABLE, "published": None, "rows": rows, "sweep": SWEEPS,
                     "metric": {"select": "last_rounds", "last": 1}})  # fmt: skip
    for place, name in enumerate(given):
        score = 0.5 + 0.1 * place
        world.write(
            {"test": {0: [[score]], 1: [[score]]}}, RUN.model_copy(update={"method": "fedaux", "variant": name})
        )
    world.write({"test": {0: [[0.2]], 1: [[0.2]]}}, RUN)
    axes = sweep.draw(scene_of(world)).axes
    drawn = [panel.containers[0].lines[0] for panel in axes]
    points = [[np.asarray(values, float).tolist() for values in line.get_data()] for line in drawn]
    assert points == [[[5, 20], [60, 50]], [[0.1, 0.9], [70, 50]]]
    assert [panel.get_xlabel() for panel in axes] == ["gain", "most"]
    assert all(any(list(line.get_ydata()) == [20, 20] for line in panel.get_lines()) for panel in axes)
