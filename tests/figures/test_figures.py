"""Figures: what is drawn where, the same bytes twice, and errors that help."""

import matplotlib as mpl
import numpy as np
import pytest

from fedbench.configuration.suite import load_suite
from fedbench.errors import DataError
from fedbench.figures import (
    _panels,
    accuracy_by_bytes,
    accuracy_by_round,
    accuracy_by_seconds,
    bars,
    figure_names,
    spectra,
)
from fedbench.figures._catalogue import figure_named
from fedbench.figures._members import members_of
from fedbench.figures._scene import Scene
from fedbench.figures._style import line_style
from fedbench.figures.label_skew import class_shares
from fedbench.figures.partition_sizes import counts_by_split
from fedbench.files import write_arrays
from fedbench.records.pack import open_records
from fedbench.stats.cells import table_named
from tests.records.support import TABLE, costs, flat, full_disk
from tests.tasks.rec.toys import toy_rec, write_problem

PLAIN = ["accuracy-by-bytes", "accuracy-by-round", "accuracy-by-seconds", "label-skew", "partition-sizes"]
OF_KINDS = {"accuracy-by-steps": "clients", "client-accuracy": "clients"}
OF_KEYS = OF_KINDS | {
    "apv-diagnostics": "diagnostics",
    "bars": "further",
    "differences": "baseline",
    "grid": "grid",
    "spectra": "spectra",
    "sweep": "sweep",
}


def draw(world, name, *more, out="figures"):
    where = ["--configs", world.configs, "--records", world.records, "--out", world.root / out]
    return world.run("figure", name, "--suite", "s", *where, *more)


def scene_of(world, **changes):
    suite = load_suite("s", world.configs)
    table = table_named("toy", suite, world.configs)
    records = open_records(world.records)
    return Scene(table, tuple(suite.seed_blocks), world.configs, records, world.results, **changes)


def lines_of(figure):
    """Return the drawn lines of the first panel by colour."""
    return {line.get_color(): line for line in figure.axes[0].get_lines() if len(line.get_xdata()) > 1}


def test_every_figure_is_found_and_has_its_texts():
    assert figure_names() == sorted([*PLAIN, *OF_KEYS])
    for name, module in ((name, figure_named(name)) for name in figure_names()):
        assert module.TITLE
        assert module.CAPTION
        assert module.NEEDS in ((OF_KEYS[name],) if name in OF_KEYS else ("records", "partitions"))


@pytest.mark.parametrize("name", PLAIN)
def test_same_command_twice_gives_the_same_bytes(world, name):
    world.fill()
    before = dict(mpl.rcParams)
    assert draw(world, name, out="once") == 0
    assert draw(world, name, out="again") == 0
    assert dict(mpl.rcParams) == before
    for suffix in ("pdf", "png"):
        once, again = ((world.root / out / f"{name}.{suffix}").read_bytes() for out in ("once", "again"))
        assert once == again
        assert b"CreationDate" not in once


def test_accuracy_by_round_draws_the_mean_over_clients_and_seeds(world):
    world.fill()
    figures = {"val": flat(0.5)["val"], "test": {0: [[0.1, 0.3], [0.6, 0.8]], 1: [[0.3, 0.5], [0.8, 1.0]]}}
    world.write(figures, costs=costs((0, 1)))
    line = lines_of(accuracy_by_round.draw(scene_of(world)))[line_style(0).colour]
    np.testing.assert_allclose(line.get_xdata(), [1, 2])
    np.testing.assert_allclose(line.get_ydata(), [30, 80])


def test_costs_are_spread_over_the_rounds(world):
    world.fill()
    world.write(flat(0.702), costs=costs((0, 1), up=3_000_000, down=1_000_000))
    by_bytes = lines_of(accuracy_by_bytes.draw(scene_of(world)))[line_style(0).colour]
    np.testing.assert_allclose(by_bytes.get_xdata(), [2, 4])
    by_seconds = lines_of(accuracy_by_seconds.draw(scene_of(world)))[line_style(0).colour]
    np.testing.assert_allclose(by_seconds.get_xdata(), [0.75, 1.5])  # seeds took 1 and 2 seconds


def test_a_method_that_sends_nothing_is_a_level_line(world):
    world.fill()
    world.write(flat(0.702), costs=costs((0, 1), up=0, down=0))
    line = lines_of(accuracy_by_bytes.draw(scene_of(world)))[line_style(0).colour]
    np.testing.assert_allclose(line.get_ydata(), [70.2, 70.2])


def test_legend_is_in_order_of_accuracy(world):
    world.fill()
    figure = accuracy_by_round.draw(scene_of(world))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["local", "fedavg", "fedper", "majority"]


def test_frame_shows_every_method_where_it_ends(world):
    world.fill()  # the lowest method ends at 40
    low, high = accuracy_by_round.draw(scene_of(world)).axes[0].get_ylim()
    assert low == 40 - _panels.FOOTROOM
    assert high > 70.2


def test_styles_differ_also_without_colour():
    eight = [line_style(place) for place in range(8)]
    assert len({(style.dashes, style.marker) for style in eight}) == 8
    assert len({style.colour for style in eight}) == 8
    assert len({line_style(place) for place in range(32)}) == 32


def test_partition_counts_by_hand():
    client, split = np.array([0, 0, 1, 1, 1]), np.array([0, 2, 1, 1, 3], np.int8)
    assert counts_by_split(client, split).tolist() == [[1, 0], [0, 2], [1, 0], [0, 1]]


def test_class_shares_by_hand():
    shares = class_shares(np.array([0, 0, 0, 0, 1]), np.array([0, 0, 0, 2, 1]))
    np.testing.assert_allclose(shares, [[0.75, 0, 0.25], [0, 1, 0]])


def with_members(world, task, what):
    members = {"client": np.array([0, 0, 1]), what: np.array([2, 0, 1]), "split": np.zeros(3, np.int8)}
    write_arrays(world.results / "partitions" / "cora" / "metis-2.npz", members, {"clients": 2, "task": task})


def test_graphs_have_classes_too(world):
    write_arrays(world.results / "datasets" / "cora.npz", {"y": np.array([0, 0, 1])}, {"dataset": "cora"})
    with_members(world, "graph", "graph")
    client, label = scene_of(world).clients_and_labels("cora", "metis-2")
    assert (client.tolist(), label.tolist()) == ([0, 0, 1], [1, 0, 0])
    assert draw(world, "label-skew") == 0


def test_users_have_no_classes(world, capsys):
    with_members(world, "rec", "user")
    assert draw(world, "label-skew") == 1
    assert "task 'rec', which has none" in capsys.readouterr().err


def test_unknown_figure_suggests_the_nearest(world, capsys):
    assert draw(world, "acuracy-by-round") == 1
    assert "did you mean 'accuracy-by-round'?" in capsys.readouterr().err


def test_missing_records_are_listed_or_left_out(world, capsys):
    world.write(flat(0.7), costs=costs((0, 1)))
    assert draw(world, "accuracy-by-round") == 1
    assert "3 records are missing" in capsys.readouterr().err
    assert draw(world, "accuracy-by-round", "--partial") == 0


def test_partition_figures_need_no_records(world):
    assert draw(world, "label-skew") == 0


def test_missing_partition_is_an_error(world, capsys):
    (world.results / "partitions" / "cora" / "metis-2.npz").unlink()
    for name in ("partition-sizes", "label-skew"):
        assert draw(world, name) == 1
        assert "metis-2.npz" in capsys.readouterr().err
        assert draw(world, name, "--partial") == 0


def test_a_table_can_be_chosen(world):
    world.fill()
    assert draw(world, "accuracy-by-round", "--table", "toy") == 0
    assert (world.root / "figures" / "accuracy-by-round-toy.pdf").exists()


def test_full_disk_leaves_no_half_figure(world, capsys):
    with full_disk():
        assert draw(world, "label-skew") == 1
    assert "File too large" in capsys.readouterr().err
    assert not list((world.root / "figures").iterdir())


def test_bars_stand_in_groups_in_the_order_of_rows(world):
    metric = {"name": "accuracy", "label": "all"}
    further = [{**metric, "label": "first", "group": {"name": "first", "first": 0, "last": 0}}]
    world.suite(toy={**TABLE, "metric": metric, "further": further})
    world.fill()
    world.write({"val": flat(0.5)["val"], "test": {0: [[0.1, 0.1], [0.6, 0.8]], 1: [[0.1, 0.1], [0.8, 1.0]]}},
                costs=costs((0, 1)))  # fmt: skip
    axes = bars.draw(scene_of(world)).axes[0]
    heights = [[bar.get_height() for bar in row if hasattr(bar, "get_height")] for row in axes.containers[1::2]]
    assert len(heights) == 4
    np.testing.assert_allclose(heights[0], [80, 70])  # local: both clients over two seeds, and the first client
    np.testing.assert_allclose(heights[1], [63, 63])
    assert [text.get_text() for text in axes.get_xticklabels()] == ["all", "first"]


def test_bars_need_further_figures(world, capsys):
    world.fill()
    assert draw(world, "bars") == 1
    assert "no key 'further'" in capsys.readouterr().err


def test_spectra_are_those_of_the_dense_laplacians(world):
    problem = toy_rec(users=20, items=30, clients=2)
    files = world.results / "datasets" / "toy.npz", world.results / "partitions/toy/co-cluster-2.npz"
    write_problem(problem, *files, group=["large", "small"])
    found = spectra.spectra_of(scene_of(world), "toy", "co-cluster-2", 6)
    for client, (group, values) in zip(problem.client_data, found, strict=True):
        taken = client.taken.toarray()
        joint = np.block([[np.zeros((client.users,) * 2), taken], [taken.T, np.zeros((client.items,) * 2)]])
        degree = joint.sum(1)
        scale = np.where(degree > 0, np.maximum(degree, 1) ** -0.5, 0)
        expected = np.linalg.eigvalsh(np.eye(len(joint)) - scale[:, None] * joint * scale)
        np.testing.assert_allclose(values, expected[:6], atol=1e-5)
        assert group == ("large" if client is problem.client_data[0] else "small")
    world.suite(toy={**TABLE, "datasets": ["toy"], "partitions": ["co-cluster-2"], "spectra": 6})
    figure = spectra.draw(scene_of(world))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["large", "small"]
    np.testing.assert_allclose(figure.axes[0].get_lines()[1].get_ydata(), found[1][1])
    files[1].unlink()
    with pytest.raises(DataError, match=r"co-cluster-2\.npz"):
        spectra.draw(scene_of(world))
    (panel,) = spectra.draw(scene_of(world, partial=True)).axes
    assert [text.get_text() for text in panel.texts] == ["not run"]


def test_pairs_of_users_and_items_are_members_too(world):
    folder = world.results
    pairs = {"users": np.array([0, 0, 1, 1]), "items": np.array([0, 1, 0, 1]), "split": np.array([0, 2, 0, 1], np.int8)}
    write_arrays(folder / "datasets" / "toy.npz", pairs, {"dataset": "toy", "task": "rec", "users": 2, "items": 2})
    clients = {"client": np.array([0, 1]), "user": np.array([0, 1]), "item_client": np.array([0, 1]),
               "item": np.array([0, 1])}  # fmt: skip
    about = {"dataset": "toy", "task": "rec", "clients": 2}
    write_arrays(folder / "partitions" / "toy" / "co-cluster-2.npz", clients, about)
    found = members_of(scene_of(world), "toy", "co-cluster-2")
    assert (found.client.tolist(), found.split.tolist(), found.what) == ([0, 0, 1, 1], [0, 3, 3, 1], "pairs")
