"""The spread over partitions and tables of partitions in a suite's plan and check."""

import pytest
import yaml

from fedbench.configuration.suite import load_suite
from fedbench.errors import ConfigurationError
from fedbench.planning.check import check_suite
from fedbench.planning.jobs import jobs_of_table
from fedbench.planning.plan import plan_of
from tests.planning.conftest import FILES


def rewrite(configs, name, **changes):
    values = {**FILES[f"tables/{name}.yaml"], **changes}
    (configs / "tables" / f"{name}.yaml").write_text(yaml.safe_dump(values))
    return load_suite("tiny", configs)


def test_other_seeds_of_a_partition_are_jobs_of_their_own(configs, tmp_path):
    suite = rewrite(configs, "one", partition_seeds=3, rows=[{"method": "local"}], partitions=["metis-3"])
    jobs = jobs_of_table("one", suite, configs)
    assert [(job.run.partition, job.block) for job in jobs] == [
        ("metis-3", "0-1"),
        ("metis-3", "2-2"),
        ("metis-3-s1", "0-0"),
        ("metis-3-s2", "0-0"),
    ]
    share = plan_of(suite, configs, tmp_path / "records", past=[]).tables[0]
    assert (share.name, len(share.jobs), share.done) == ("one", 4, 0)


def noniid(configs, **changes):
    readings = [{"name": "jsd", "label": "JSD", "labels": {}}]
    given = {"kind": "noniid", "protocol": "", "rows": [], "readings": readings}
    return rewrite(configs, "one", **given, **changes)


def test_a_table_of_partitions_has_no_jobs_and_is_sound(configs):
    suite = noniid(configs)
    assert jobs_of_table("one", suite, configs, also=["local"]) == []
    check_suite("tiny", suite, configs, ["fedavg", "local"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"datasets": ["coral"]}, r"coral\.yaml \(did you mean 'cora'"), ({"partitions": ["metiss-3"]}, "metiss.yaml")],
)
def test_its_data_sets_and_partitions_are_checked(configs, changes, message):
    with pytest.raises(ConfigurationError, match=message):
        check_suite("tiny", noniid(configs, **changes), configs, ["fedavg", "local"])
