"""A suite is checked before Snakemake sees it, and every fault is named at once."""

from pathlib import Path

import pytest
import yaml

from fedbench.configuration.suite import load_suite, table_in_suite
from fedbench.errors import ConfigurationError
from fedbench.planning.check import check_suite
from fedbench.planning.selection import selected
from tests.planning.conftest import FILES


def _check(configs: Path, methods=("fedavg", "local"), also=()) -> None:
    check_suite("tiny", load_suite("tiny", configs), configs, methods, also)


def _rewrite(configs: Path, name: str, **changes: object) -> None:
    (configs / name).write_text(yaml.safe_dump({**FILES[name], **changes}))


def test_a_sound_suite_passes(configs):
    _check(configs)


def test_all_faults_are_listed_with_the_nearest_names(configs):
    (configs / "datasets/cora.yaml").rename(configs / "datasets/coral.yaml")
    (configs / "partitions/metis.yaml").unlink()
    with pytest.raises(ConfigurationError) as error:
        _check(configs, methods=["fedavg", "locale"])
    text = str(error.value)
    assert "method 'local' has no rule file (did you mean 'locale'?)" in text
    assert "cora.yaml (did you mean 'coral'?)" in text
    assert "metis.yaml" in text


def test_an_unknown_appended_method_is_named(configs):
    with pytest.raises(ConfigurationError, match=r"'fedavgg' has no rule file \(did you mean 'fedavg'"):
        _check(configs, also=["fedavgg"])


def test_a_method_for_another_task_is_named(configs):
    (configs / "methods/local.yaml").write_text(yaml.safe_dump({"label": "Local", "tasks": ["rec"]}))
    with pytest.raises(ConfigurationError, match="'local' is for the task rec, protocol 'short' for the task node"):
        _check(configs)


def test_also_appends_where_the_task_is_the_methods(configs):
    _rewrite(configs, "tables/two.yaml", protocol="ranked")
    training = {"task": "rec", "rounds": 10, "model": {"backbone": "mf", "dropout": 0.0}}
    ranked = {"title": "Ranked", "source": "nobody", "training": training}
    (configs / "protocols/ranked.yaml").write_text(yaml.safe_dump(ranked))
    (configs / "methods/gfcf.yaml").write_text(yaml.safe_dump({"label": "GF-CF", "tasks": ["rec"]}))
    suite = load_suite("tiny", configs)
    names = {
        table: [row.method for row in table_in_suite(table, suite, configs, ["gfcf"]).rows] for table in suite.tables
    }
    assert names == {"one": ["fedavg", "local"], "two": ["fedavg", "fedavg", "gfcf"]}
    (configs / "methods/gfcf.yaml").write_text(yaml.safe_dump({"label": "GF-CF", "tasks": ["graph"]}))
    with pytest.raises(ConfigurationError, match="no table for 'gfcf' of `also`"):
        _check(configs, also=["gfcf"])


def test_an_unknown_variant_is_named(configs):
    with pytest.raises(ConfigurationError, match="did you mean 'long'"):
        _check(configs, also=["fedavg/lomg"])


def test_an_unknown_protocol_is_named(configs):
    (configs / "protocols/short.yaml").rename(configs / "protocols/shorter.yaml")
    with pytest.raises(ConfigurationError, match="did you mean 'shorter'"):
        _check(configs)


def test_an_unknown_table_is_named(configs):
    (configs / "tables/one.yaml").rename(configs / "tables/ones.yaml")
    with pytest.raises(ConfigurationError, match="did you mean 'ones'"):
        _check(configs)


@pytest.mark.parametrize(
    ("table", "choice", "message"),
    [
        ({"floor": "local"}, {"without": ["local"]}, "`floor` must name one of the rows"),
        ({"kind": "rounds", "baseline": "local"}, {"only": ["fedavg"]}, "`baseline` must name one of the rows"),
        ({"partition_of": {"cora": "metis-3"}, "partitions": []}, {"datasets": ["photo"]}, "no partition of photo"),
        ({"kind": "seconds"}, {"partition_seeds": 3}, "`partition_seeds` needs the kind figure"),
    ],
)
def test_what_a_suite_changes_must_leave_a_whole_table(configs, table, choice, message):
    _rewrite(configs, "tables/one.yaml", **table)
    _check(configs)
    _rewrite(configs, "suites/tiny.yaml", tables={"one": choice})
    with pytest.raises(ConfigurationError, match=message):
        _check(configs)


@pytest.mark.parametrize(
    ("name", "change", "where"),
    [
        ("tables/one.yaml", {"partition_of": {"coar": "metis-3"}}, "`partition_of` of table 'one'"),
        ("tables/one.yaml", {"rows": [{"method": "fedavg", "by_dataset": {"coar": "long"}}]}, "row fedavg/default"),
        ("protocols/short.yaml", {"datasets": {"coar": {"rounds": 2}}}, "`datasets` of protocol 'short'"),
    ],
)
def test_a_key_that_singles_out_no_data_set_is_an_error(configs, name, change, where):
    _rewrite(configs, name, **change)
    with pytest.raises(ConfigurationError, match=rf"{where}.*coar\.yaml \(did you mean 'cora'"):
        _check(configs)


@pytest.mark.parametrize(
    ("figure", "message"),
    [
        ({"name": "acuracy-by-round"}, r"no figure 'acuracy-by-round' \(did you mean 'accuracy-by-round'"),
        ({"name": "accuracy-by-round", "table": "two", "only": ["local"]}, "no row local/default"),
    ],
)
def test_figures_and_the_rows_that_they_draw_are_checked(configs, figure, message):
    _rewrite(configs, "suites/tiny.yaml", figures=[figure])
    with pytest.raises(ConfigurationError, match=message):
        _check(configs)


def test_an_appended_row_that_the_table_has_is_not_repeated(configs):
    table = table_in_suite("one", load_suite("tiny", configs), configs, ["local", "fedavg/long", "fedavg/long"])
    assert [row.name for row in table.rows] == ["fedavg/default", "local/default", "fedavg/long"]


def test_keys_of_the_command_line():
    chosen = selected({"suite": "quick", "also": "a,b/c", "rules": "x/a.smk"})
    assert chosen.also == ("a", "b/c")
    assert chosen.rules == (Path("x/a.smk"),)
    with pytest.raises(ConfigurationError, match=r"unknown key 'suit' \(did you mean 'suite'"):
        selected({"suit": "quick"})
    with pytest.raises(ConfigurationError, match="device"):
        selected({"device": "tpu"})
