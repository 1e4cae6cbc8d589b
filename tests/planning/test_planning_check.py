"""A suite is checked before Snakemake sees it, and every fault is named at once."""

from pathlib import Path

import pytest

from fedbench.configuration.suite import load_suite
from fedbench.errors import ConfigurationError
from fedbench.planning.check import check_suite
from fedbench.planning.selection import selected


def _check(configs: Path, methods=("fedavg", "local"), also=()) -> None:
    check_suite("tiny", load_suite("tiny", configs), configs, methods, also)


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


def test_keys_of_the_command_line():
    chosen = selected({"suite": "quick", "also": "a,b/c", "rules": "x/a.smk"})
    assert chosen.also == ("a", "b/c")
    assert chosen.rules == (Path("x/a.smk"),)
    with pytest.raises(ConfigurationError, match=r"unknown key 'suit' \(did you mean 'suite'"):
        selected({"suit": "quick"})
    with pytest.raises(ConfigurationError, match="device"):
        selected({"device": "tpu"})
