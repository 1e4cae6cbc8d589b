"""Figures over settings and of diagnostics: the numbers drawn are those of the records."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats

from fedbench.configuration.suite import load_suite
from fedbench.errors import ConfigurationError
from fedbench.figures import apv_diagnostics, bars, differences, grid, sweep
from fedbench.figures._panels import name_panel
from fedbench.figures._scene import Scene
from fedbench.files import write_arrays
from fedbench.records.pack import open_records
from fedbench.records.store import Record, read_record, table_of, write_record
from fedbench.stats.cells import table_named
from tests.records.support import PUBLISHED, RUN, TABLE, costs, flat, rows_of

SIGMAS = {"paper": 0.60, "small": 0.65, "large": 0.50}
SETTINGS = {"small": {"sigma": 0.1}, "large": {"sigma": 10.0}, "paper": {}}
SWEEP = {"setting": "method.sigma", "label": "sigma", "values": {"fedaux/paper": 1.0}}
ROWS = [{"method": "fedavg"}, *({"method": "fedaux", "variant": name} for name in SIGMAS)]


def scene_of(world, **changes):
    suite = load_suite("s", world.configs)
    table = table_named("toy", suite, world.configs)
    return Scene(table, tuple(suite.seed_blocks), world.configs, open_records(world.records), world.results, **changes)


def variants(world, settings, label="FedAux", **of_training):
    given = {name: {"method": settings.get(name, {}), "training": of_training.get(name, {})} for name in settings}
    world.configure("methods", "fedaux", {"label": label, "variants": {**given, **{"default": {}}}})


def numbers(values):
    return np.asarray(values, dtype=float)  # errorbar keeps objects


def write(world, method, variant, test, **changes):
    return world.write(flat(test), RUN.model_copy(update={"method": method, "variant": variant}), **changes)


@pytest.fixture
def swept(world):
    """FedAux at sigma 0.1, 1 (its default, which records don't state) and 10, and FedAvg."""
    variants(world, SETTINGS)
    world.suite(toy={**TABLE, "published": None, "rows": ROWS, "sweep": SWEEP})
    write(world, "fedavg", "default", 0.55)
    for name, test in SIGMAS.items():
        write(world, "fedaux", name, test)
    return world


def test_sweep_draws_the_figure_at_its_setting(swept):
    axes = sweep.draw(scene_of(swept)).axes[0]
    line = axes.containers[0].lines[0]
    np.testing.assert_allclose(numbers(line.get_xdata()), [0.1, 1, 10])
    np.testing.assert_allclose(numbers(line.get_ydata()), [65, 60, 50])
    assert axes.get_xscale() == "log"
    levels = [list(each.get_ydata()) for each in axes.get_lines() if len(each.get_xdata()) == 2]
    np.testing.assert_allclose(levels, [[55, 55]])


def test_sweep_names_the_swept_method_and_the_levels(swept):
    texts = [text.get_text() for text in sweep.draw(scene_of(swept)).legends[0].get_texts()]
    assert texts == ["FedAux", "fedavg"]


def test_what_the_record_says_goes_before_the_table_file(swept):
    swept.suite(toy={**TABLE, "published": None, "rows": ROWS, "sweep": {**SWEEP, "values": {"fedaux/small": 5.0}}})
    line = sweep.draw(scene_of(swept)).axes[0].containers[0].lines[0]
    np.testing.assert_allclose(numbers(line.get_xdata()), [0.1, 10])  # paper has no place now: it is a level


def test_an_axis_may_name_its_rows(swept):
    some = {**SWEEP, "rows": ["fedaux/small", "fedaux/paper"]}
    swept.suite(toy={**TABLE, "published": None, "rows": ROWS, "sweep": some})
    line = sweep.draw(scene_of(swept)).axes[0].containers[0].lines[0]
    np.testing.assert_allclose(numbers(line.get_xdata()), [0.1, 1])


def test_a_setting_of_0_is_a_level_on_a_logarithmic_axis(swept):
    rows = [*ROWS, {"method": "fedaux", "variant": "off"}]
    variants(swept, {**SETTINGS, "off": {"sigma": 0.0}})
    swept.suite(toy={**TABLE, "published": None, "rows": rows, "sweep": SWEEP})
    write(swept, "fedaux", "off", 0.4)
    assert len(sweep.draw(scene_of(swept)).axes[0].containers[0].lines[0].get_xdata()) == 3
    swept.suite(toy={**TABLE, "published": None, "rows": rows, "sweep": {**SWEEP, "log": False}})
    assert len(sweep.draw(scene_of(swept)).axes[0].containers[0].lines[0].get_xdata()) == 4


GRID = {
    "down": {"setting": "training.model.layers", "label": "layers"},
    "across": {"setting": "training.model.width", "label": "width"},
}


def test_grid_puts_published_figures_below_ours(world):
    cells = {(layers, width): 0.5 + 0.1 * layers + 0.001 * width for layers in (1, 2) for width in (8, 16)}
    names = {key: f"d{key[0]}-w{key[1]}" for key in cells}
    training = {names[key]: {"model": {"layers": key[0], "width": key[1]}} for key in cells}
    variants(world, {key: {} for key in training}, **training)
    (world.configs / "published" / "toy.csv").write_text(
        PUBLISHED.splitlines()[0] + "\nToy,Table 1,Cora,METIS disjoint,2,d1-w8,accuracy_%,33.0,,made up\n"
    )
    rows = [{"method": "fedaux", "variant": name, "published": name} for name in names.values()]
    world.suite(toy={**TABLE, "rows": rows, "grid": GRID})
    for key, test in cells.items():
        write(world, "fedaux", names[key], test)
    figure = grid.draw(scene_of(world))
    ours, published = (np.asarray(axes.collections[0].get_array()).reshape(2, 2) for axes in figure.axes[:2])
    np.testing.assert_allclose(ours, [[60.8, 61.6], [70.8, 71.6]])
    np.testing.assert_allclose(np.ma.filled(published, np.nan), [[33, np.nan], [np.nan, np.nan]])
    sides = (figure.axes[0].yaxis, figure.axes[0].xaxis)
    labels = [[tick.get_text() for tick in side.get_ticklabels()] for side in sides]
    assert labels == [["1", "2"], ["8", "16"]]
    assert [axes.get_title() for axes in figure.axes[:2]] == ["cora, metis-2, here", "cora, metis-2, published"]


def test_grid_without_published_figures_has_one_row(world):
    world.suite(toy={**TABLE, "published": None, "grid": GRID, "rows": TABLE["rows"][:1]})
    world.write(flat(0.7), costs=costs((0, 1)))
    assert [axes.get_title() for axes in grid.draw(scene_of(world)).axes[:1]] == ["cora, metis-2, here"]


def with_diagnostics(path, weights):
    """Add self_weight rows [seeds][rounds][clients] to a record."""
    record = read_record(path)
    more = rows_of({"none": dict(enumerate(weights))}, "self_weight")
    old = record.table.to_pydict()
    write_record(path, Record(record.header, table_of({name: [*old[name], *more[name]] for name in old})))


def test_diagnostics_are_means_over_seeds_with_the_range_of_clients(world):
    world.suite(toy={**TABLE, "published": None, "rows": TABLE["rows"][:2], "diagnostics": ["self_weight"]})
    world.fill()
    path = world.records / "toy/cora/metis-2/local/default/seeds-0-1.parquet"
    with_diagnostics(path, [[[0.5, 0.5], [0.6, 0.8]], [[0.5, 0.5], [0.8, 1.0]]])
    figure = apv_diagnostics.draw(scene_of(world))
    axes = figure.axes[0]
    line = next(line for line in axes.get_lines() if len(line.get_xdata()) == 2 and line.get_linestyle() != ":")
    np.testing.assert_allclose(line.get_xdata(), [1, 2])
    np.testing.assert_allclose(line.get_ydata(), [0.5, 0.8])
    band = axes.collections[0].get_paths()[0].vertices
    assert (band[:, 1].min(), band[:, 1].max()) == pytest.approx((0.5, 0.9))
    dotted = [line for line in axes.get_lines() if line.get_linestyle() == ":"]
    assert [list(line.get_ydata()) for line in dotted] == [[0.5, 0.5]]  # equal weights of two clients
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["local"]


def test_a_bundle_keeps_the_diagnostics(world):
    world.suite(toy={**TABLE, "published": None, "rows": TABLE["rows"][:1], "diagnostics": ["self_weight"]})
    path = world.write(flat(0.7), costs=costs((0, 1)))
    with_diagnostics(path, [[[0.5, 0.5], [0.6, 0.8]]] * 2)
    bundle = world.root / "bundle"
    where = ["--configs", world.configs, "--records", world.records, "--out", bundle]
    assert world.run("pack", "--suite", "s", *where) == 0
    for name, records in (("a", world.records), ("b", bundle)):
        where = ["--configs", world.configs, "--records", records, "--out", world.root / name]
        assert world.run("figure", "apv-diagnostics", "--suite", "s", *where) == 0
    drawn = [(world.root / name / "apv-diagnostics.png").read_bytes() for name in "ab"]
    assert drawn[0] == drawn[1]


OWN = {"datasets": ["cora", "a"], "partitions": [], "partition_of": {"cora": "metis-2", "a": "metis-3"}}


@pytest.mark.parametrize(
    ("module", "keys", "below"),
    [
        (grid, {"grid": GRID}, ["here"]),
        (apv_diagnostics, {"diagnostics": ["self_weight", "apv_cosine"]}, ["", ""]),
        (bars, {"further": [{"label": "first", "group": {"name": "first", "first": 0, "last": 0}}]}, [""]),
    ],
)
def test_data_sets_with_partitions_of_their_own_have_a_panel_each(world, module, keys, below):
    variants(world, {"d1": {}}, d1={"model": {"layers": 1, "width": 8}})
    world.suite(toy={**TABLE, **OWN, "published": None, "rows": [{"method": "fedaux", "variant": "d1"}], **keys})
    for dataset, name in OWN["partition_of"].items():
        write_arrays(world.results / "datasets" / f"{dataset}.npz", {}, {})
        write_arrays(world.results / "partitions" / dataset / f"{name}.npz", {}, {"clients": 2})
        run = RUN.model_copy(update={"method": "fedaux", "variant": "d1", "dataset": dataset, "partition": name})
        with_diagnostics(world.write(flat(0.6), run), [[[0.5, 0.5], [0.6, 0.8]]] * 2)
    figure = module.draw(scene_of(world))
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    places = [", ".join(place) for place in OWN["partition_of"].items()]
    assert titles == [", ".join(filter(None, (place, title))) for title in below for place in places]


@pytest.mark.parametrize(("module", "key"), [(sweep, "sweep"), (grid, "grid"), (apv_diagnostics, "diagnostics")])
def test_a_table_without_the_key_is_an_error(world, module, key):
    world.fill()
    with pytest.raises(ConfigurationError, match=f"add '{key}'"):
        module.draw(scene_of(world))


def test_figures_leave_out_the_other_partitions(world):
    world.suite(toy={**TABLE, "partition_seeds": 3})
    world.fill()
    assert len(scene_of(world).cells) == 4


def test_a_suite_names_figures_and_their_tables(world):
    choices = [{"name": "sweep", "table": "toy"}, {"name": "label-skew"}]
    values = {"title": "S", "description": "-", "tables": {"toy": {}}, "figures": choices}
    world.configure("suites", "s", values)
    figures = load_suite("s", world.configs).figures
    assert [choice.stem for choice in figures] == ["sweep-toy", "label-skew"]
    world.configure("suites", "s", {**values, "figures": [{"name": "sweep", "table": "toi"}]})
    with pytest.raises(ConfigurationError, match="figures of tables that the suite hasn't: toi"):
        load_suite("s", world.configs)


PAIRED = {**TABLE, "published": None, "kind": "paired", "baseline": "local", "rows": TABLE["rows"][:3]}


@pytest.fixture
def paired(world):
    """FedAvg against local training at two partitions: -10 and -6 at the first, +20 and 0 at the second."""
    world.suite(toy={**PAIRED, "partitions": ["metis-2", "metis-3"]})
    write_arrays(world.results / "partitions" / "cora" / "metis-3.npz", {}, {})
    values = {
        "metis-2": {"local": (0.7, 0.7), "fedavg": (0.6, 0.64)},
        "metis-3": {"local": (0.5, 0.5), "fedavg": (0.7, 0.5)},
    }
    for partition, by_method in values.items():
        for method, scores in by_method.items():
            test = {seed: [[0.1, 0.1], [score, score]] for seed, score in enumerate(scores)}
            run = RUN.model_copy(update={"method": method, "partition": partition})
            world.write({"val": flat(0.5)["val"], "test": test}, run)
    return world


def test_differences_are_the_paired_tables(paired):
    axes = differences.draw(scene_of(paired, partial=True)).axes[0]
    points = [(line.get_xdata()[0], line.get_ydata()[0]) for line in axes.get_lines() if len(line.get_xdata()) == 1]
    means, heights = zip(*points, strict=True)
    np.testing.assert_allclose(means, [-8, 10, 1])  # each column, then their mean; FedPer wasn't run
    assert list(heights) == sorted(heights)
    spans = [line.get_xdata() for line in axes.get_lines() if len(line.get_xdata()) == 2][:3]
    reach = stats.t.ppf(0.975, 1) * np.array([4, 20, 8]) / 2  # half the difference of two seeds' differences
    np.testing.assert_allclose([high - low for low, high in spans], 2 * reach)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["fedavg", "fedper"]


def test_without_a_column_there_is_no_mean_of_all(paired):
    for suffix in ("parquet", "json"):
        (paired.records / f"toy/cora/metis-3/fedavg/default/seeds-0-1.{suffix}").unlink()
    axes = differences.draw(scene_of(paired, partial=True)).axes[0]
    assert [line.get_xdata()[0] for line in axes.get_lines() if len(line.get_xdata()) == 1] == pytest.approx([-8])


def test_differences_need_a_baseline(world):
    world.fill()
    with pytest.raises(ConfigurationError, match="no key 'baseline'"):
        differences.draw(scene_of(world))


def test_a_single_point_on_a_logarithmic_axis_is_seen() -> None:
    axes = Figure().subplots()
    axes.set_xscale("log")
    axes.plot([128.0], [0.3])
    sweep._leave_room(axes)
    low, high = axes.get_xlim()
    assert low < 100 and high > 200


def test_a_long_name_of_a_panel_takes_two_lines() -> None:
    short, long = Figure().subplots(2)
    name_panel(short, ("cora", "metis-10"))
    name_panel(long, ("amazon-electronics-lpsfed", "co-cluster-by-user-4"))
    assert short.get_title() == "cora, metis-10"
    assert long.get_title() == "amazon-electronics-lpsfed,\nco-cluster-by-user-4"
    assert [text.get_text() for text in long.texts] == ["not run"]
