"""Jobs of a suite, their costs by past records, and the text that a user reads."""

import json
import subprocess
import sys

import pytest

from fedbench.cli.__main__ import main
from fedbench.configuration.run import RunName
from fedbench.configuration.suite import load_suite
from fedbench.planning.estimate import Estimator
from fedbench.planning.jobs import Job, jobs_of_table
from fedbench.planning.past import past_runs
from fedbench.planning.plan import plan_of


def _job(method="fedavg", dataset="cora", partition="metis-3", variant="default", block="0-1") -> Job:
    run = RunName(protocol="short", dataset=dataset, partition=partition, method=method, variant=variant)
    return Job(run=run, block=block)


def test_a_table_needs_one_job_per_cell_and_block(configs):
    suite = load_suite("tiny", configs)
    jobs = jobs_of_table("one", suite, configs)
    assert len(jobs) == 2 * 2 * 2
    assert str(jobs[1].record) == "short/cora/metis-3/fedavg/default/seeds-2-2.parquet"


def test_a_job_that_two_tables_use_counts_once_in_the_total(configs, tmp_path):
    plan = plan_of(load_suite("tiny", configs), configs, tmp_path / "none", [])
    assert [len(share.jobs) for share in plan.tables] == [8, 4]
    assert len(plan.total.jobs) == 10
    assert plan.total.unknown == 10


def test_existing_records_are_done(configs, past_record):
    records = past_record()
    plan = plan_of(load_suite("tiny", configs), configs, records, past_runs([records]))
    assert [share.done for share in plan.tables] == [1, 1]


def test_records_packed_in_a_bundle_are_done(configs, tmp_path):
    packed = {_job().name}
    plan = plan_of(load_suite("tiny", configs), configs, tmp_path / "none", [], packed=packed)
    assert [share.done for share in plan.tables] == [1, 1]


def test_also_appends_a_row_to_every_table(configs, tmp_path):
    plan = plan_of(load_suite("tiny", configs), configs, tmp_path, [], also=["centroid"])
    assert [len(share.jobs) for share in plan.tables] == [12, 6]


def test_the_same_cell_decides_scaled_by_epochs_and_seeds(configs, past_record):
    past_record(clients=5, seconds=99.0)
    estimator = Estimator(past_runs([past_record(seconds=4.0, startup=2.0)]), configs)
    guess = estimator.of(_job())
    assert guess.basis == "same method, dataset, clients"
    assert guess.seconds == pytest.approx(2.0 + 2 * 4.0)
    assert estimator.of(_job(variant="long", block="0-0")).seconds == pytest.approx(2.0 + 4 * 4.0)


@pytest.mark.parametrize(
    ("job", "basis"),
    [
        (_job(partition="metis-9"), "same method, dataset"),
        (_job(method="local"), "same dataset"),
        (_job(method="local", partition="metis-9"), "same dataset"),
        (_job(dataset="pubmed"), "same method on other data, by its size"),
        (_job(method="local", dataset="pubmed"), ""),
    ],
)
def test_less_alike_runs_decide_where_there_are_none_better(configs, past_record, job, basis):
    guess = Estimator(past_runs([past_record()]), configs).of(job)
    assert guess.basis == basis
    assert (guess.seconds is None) == (basis == "")


def test_another_data_set_costs_by_its_size(configs, past_record):
    """Cora's largest component has 2,485 nodes and 5,069 edges, PubMed's 19,717 and 44,324; start-up doesn't grow."""
    past = past_runs([past_record(seconds=4.0, startup=2.0)])
    guess = Estimator(past, configs).of(_job(dataset="pubmed"))
    assert guess.seconds == pytest.approx(2.0 + 2 * 4.0 * (19717 + 44324 / 20) / (2485 + 5069 / 20))


def test_what_other_methods_take_on_both_decides_before_size(configs, past_record):
    """FedAvg takes five times as long on PubMed as on Cora, and so will a method that has run on Cora alone."""
    past_record(seconds=4.0)
    past_record(dataset="pubmed", seconds=20.0)
    past = past_runs([past_record(method="local", seconds=3.0, startup=2.0)])
    guess = Estimator(past, configs).of(_job(method="local", dataset="pubmed"))
    assert guess.basis == "same method on other data, by what others take"
    assert guess.seconds == pytest.approx(2.0 + 2 * 3.0 * 5)


def test_runs_of_another_task_tell_nothing(configs, past_record):
    past = [run.model_copy(update={"task": "graph"}) for run in past_runs([past_record()])]
    assert Estimator(past, configs).of(_job()).seconds is None


def test_damaged_and_foreign_headers_are_left_out(past_record):
    records = past_record()
    foreign = json.loads(next(records.rglob("*.json")).read_text())
    foreign["settings"] = {"anything": 1}
    (records / "seeds-1-1.json").write_text(json.dumps(foreign))
    (records / "seeds-2-2.json").write_text('{"schema_version"')
    (records / "seeds-3-3.json").write_text("[]")
    assert len(past_runs([records])) == 1


def test_the_headers_of_a_bundle_count_too(past_record, tmp_path):
    header = json.loads(next(past_record().rglob("*.json")).read_text())
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle/headers.jsonl").write_text(json.dumps({"name": "x", "digest": "y", "header": header}) + "\n")
    assert [run.method for run in past_runs([tmp_path / "bundle"])] == ["fedavg"]


def test_wall_time_is_never_below_the_longest_job(configs, past_record):
    past = past_runs([past_record()])
    total = plan_of(load_suite("tiny", configs), configs, past_record().parent / "none", past).total
    assert total.wall_seconds(1) == pytest.approx(total.seconds)
    assert total.wall_seconds(1000) == max(guess.seconds for guess in total.estimates)


def test_the_command_prints_a_plan(configs, past_record, capsys):
    arguments = ["plan", "--suite", "tiny", "--configs", str(configs), "--cores", "2"]
    assert main([*arguments, "--records", str(past_record())]) == 0
    text = capsys.readouterr().out
    assert "table" in text.splitlines()[0]
    assert "wall time on 2 core(s)" in text
    assert "judged by past runs of the same method, dataset" in text


def test_the_command_says_that_there_is_no_past_record(configs, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["plan", "--suite", "tiny", "--configs", str(configs)]) == 0
    assert "no past record" in capsys.readouterr().out


def test_the_command_names_the_nearest_suite(configs, capsys):
    assert main(["plan", "--suite", "tinny", "--configs", str(configs)]) == 1
    assert "did you mean 'tiny'?" in capsys.readouterr().err


def test_planning_imports_neither_torch_nor_pandas():
    code = "import sys, fedbench.cli.plan; print([m for m in ('torch', 'pandas') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
