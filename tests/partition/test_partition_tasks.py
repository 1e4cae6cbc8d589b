"""Every scheme on a data set of its own task, through the same two functions as any other."""

from typing import get_args

import numpy as np
import pytest
from tasks_support import SCHEMES, write_each

from fedbench.cli import partition, partition_report
from fedbench.cli.__main__ import build_parser
from fedbench.errors import DataError
from fedbench.files import read_arrays, sha256_of, write_arrays
from fedbench.partition.build import BUILDERS, build_partition
from fedbench.partition.describe import DESCRIBERS, describe
from fedbench.partition.name import PartitionName
from fedbench.partition.scheme import Scheme

CLIENTS = {name: 5 if name == "overlapping" else 4 for name in SCHEMES}


@pytest.fixture(scope="module")
def toys(tmp_path_factory):
    return write_each(tmp_path_factory.mktemp("toys"))


def built(scheme: str, toys, out, seed: int = 0):
    name = PartitionName(scheme, CLIENTS[scheme], seed)
    return build_partition("toy", name, SCHEMES[scheme], toys[SCHEMES[scheme].task], out)


def test_every_kind_of_scheme_has_a_file_and_every_task_a_builder_and_a_report():
    assert {kind.task for kind in get_args(Scheme)} == set(BUILDERS) == set(DESCRIBERS) == {"node", "graph", "rec"}
    assert {scheme.task for scheme in SCHEMES.values()} == set(BUILDERS)
    assert len({kind.model_fields["scheme"].annotation for kind in get_args(Scheme)}) == len(get_args(Scheme))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_file_says_what_it_is_and_how_it_was_made(scheme, toys, tmp_path):
    built(scheme, toys, tmp_path / "p.npz", seed=2)
    arrays, meta = read_arrays(tmp_path / "p.npz")
    told = {"dataset": "toy", "scheme": scheme, "clients": CLIENTS[scheme], "seed": 2}
    assert {key: meta[key] for key in told} == told
    assert meta["dataset_digest"] == sha256_of(toys[SCHEMES[scheme].task])
    assert type(SCHEMES[scheme]).model_validate(meta["settings"]) == SCHEMES[scheme]
    assert np.unique(arrays["client"]).tolist() == list(range(CLIENTS[scheme]))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_name_gives_the_same_bytes(scheme, toys, tmp_path):
    for out in ("a.npz", "b.npz"):
        built(scheme, toys, tmp_path / out)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_report_has_a_row_for_each_client(scheme, toys, tmp_path):
    built(scheme, toys, tmp_path / "p.npz")
    found = describe(tmp_path / "p.npz", toys[SCHEMES[scheme].task])
    head, *rows = (line.split(",") for line in found.csv.splitlines())
    assert {row[head.index("client")] for row in rows} == {str(client) for client in range(CLIENTS[scheme])}
    assert found.markdown.count("\n|") == 2 + CLIENTS[scheme]


@pytest.mark.parametrize(("scheme", "task"), [("metis", "graph"), ("graphs", "rec"), ("co-random", "node")])
def test_a_scheme_of_another_task_is_refused(scheme, task, toys, tmp_path):
    with pytest.raises(
        DataError, match=f"scheme of the task {SCHEMES[scheme].task}, and a data set of the task {task}"
    ):
        build_partition("toy", PartitionName(scheme, 4), SCHEMES[scheme], toys[task], tmp_path / "p.npz")
    assert not (tmp_path / "p.npz").exists()


@pytest.mark.parametrize("task", ["node", "graph", "rec"])
def test_another_data_set_is_refused(task, toys, tmp_path):
    scheme = {"node": "metis", "graph": "graphs", "rec": "co-random"}[task]
    with pytest.raises(DataError, match="holds toy"):
        build_partition("cora", PartitionName(scheme, 4), SCHEMES[scheme], toys[task], tmp_path / "p.npz")


def test_a_report_on_another_data_set_file_is_refused(toys, tmp_path):
    built("graphs", toys, tmp_path / "p.npz")
    arrays, meta = read_arrays(toys["graph"])
    write_arrays(tmp_path / "other.npz", arrays, meta | {"changed": True})
    with pytest.raises(DataError, match="one made from toy"):
        describe(tmp_path / "p.npz", tmp_path / "other.npz")


SAID = {
    "metis-4": "4 clients, 4",
    "graphs-4": "4 clients, 160 train graphs, 20 val graphs, 20 test graphs",
    "co-random-by-user-4": " training pairs kept, 0 cut, ",
}


@pytest.mark.parametrize("name", SAID)
def test_the_commands(name, toys, tmp_path, capsys):
    task = SCHEMES[name.rsplit("-", 1)[0]].task
    out, csv, page = (str(tmp_path / file) for file in ("p.npz", "p.csv", "p.md"))
    parser = build_parser(None)
    partition.run(parser.parse_args(["partition", "toy", name, "--dataset-file", str(toys[task]), "--out", out]))
    assert SAID[name] in capsys.readouterr().out
    files = ["--dataset-file", str(toys[task]), "--csv", csv, "--markdown", page]
    partition_report.run(parser.parse_args(["partition-report", out, *files]))
    assert (tmp_path / "p.csv").read_text().startswith("dataset,partition,client,")
    assert (tmp_path / "p.md").read_text().startswith("# toy, p")
