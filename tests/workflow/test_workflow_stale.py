"""What Snakemake runs again, and what it doesn't."""

import os
import shutil
import signal
import subprocess
import time

from fedbench.configuration.run import RunName, resolve
from fedbench.provenance import code_digest
from fedbench.records.check import name_of
from fedbench.records.pack import Entry, write_bundle
from fedbench.records.schema import Digests
from fedbench.settings import digest_of
from tests.records.support import flat, record_of

SMOKE = ("--config", "suite=smoke")
RECORD = "results/records/smoke/cora-mini/metis-3/{}/seeds-0-1.parquet"


def test_the_second_run_does_nothing(done):
    assert "Nothing to be done" in done.snakemake("all", *SMOKE).stdout


def test_committed_tables_are_rebuilt_where_their_records_are_not(done):
    """A fresh clone has the committed tables, no records, and nothing that Snakemake knows of them."""
    tables = {path.stem for path in (done.folder / "reports/smoke/tables").glob("*.csv")}
    for folder in ("results", ".snakemake"):
        shutil.rmtree(done.folder / folder)
    counts = done.rules_to_run("tables", *SMOKE)
    assert counts["table"] == len(tables) > 3
    assert counts["train_fedprox"] >= 1


def test_records_of_a_bundle_are_not_trained_again(tree):
    run = RunName(protocol="smoke", dataset="cora-mini", partition="metis-3", method="fedprox")
    settings = resolve(run, tree.folder / "configs").model_dump(mode="json")
    digests = Digests(settings=digest_of(settings), dataset="", partition="", code=code_digest("fedprox", "node"))
    record = record_of(flat(0.7), run, settings=settings, digests=digests)
    write_bundle([Entry(name_of(record.header), "e" * 64, record)], {("accuracy", "test")}, tree.folder / "packed")
    without, beside = (tree.rules_to_run("all", *SMOKE, *more) for more in ((), ("bundle=packed",)))
    assert without.pop("train_fedprox") == 1
    assert beside == {**without, "all": 1}

    tree.edit("fedbench/methods/fedprox.py", "class FedProxSettings", "CHANGED = 1\n\n\nclass FedProxSettings")
    assert tree.rules_to_run("all", *SMOKE, "bundle=packed")["train_fedprox"] == 1


def test_a_comment_makes_nothing_stale(done):
    path = done.folder / "fedbench/methods/fedprox.py"
    path.write_text(path.read_text() + "# a remark\n")
    assert done.rules_to_run("all", *SMOKE) == {}


def test_a_changed_method_makes_its_own_runs_stale_and_no_others(done):
    path = done.folder / "fedbench/methods/fedprox.py"
    path.write_text(path.read_text() + "CHANGED = 1\n")
    counts = done.rules_to_run("tables", *SMOKE)
    assert [name for name in counts if name.startswith("train")] == ["train_fedprox"]
    assert counts["train_fedprox"] == 1


def test_a_changed_variant_makes_its_own_runs_stale_and_no_others(done):
    done.edit("configs/methods/fedavg.yaml", "rounds: 200", "rounds: 201")
    counts = done.rules_to_run("tables", *SMOKE)
    assert {name: count for name, count in counts.items() if name.startswith("train")} == {"train_fedavg": 1}


def test_a_changed_layout_trains_nothing(done):
    path = done.folder / "configs/tables/fedaux-table1.yaml"
    path.write_text(path.read_text().replace("title: ", "title: Another ", 1))
    assert done.rules_to_run("tables", *SMOKE) == {"table": 1, "tables": 1}


def test_a_changed_figure_draws_that_figure_alone(done):
    path = done.folder / "fedbench/figures/label_skew.py"
    path.write_text(path.read_text() + "CHANGED = 1\n")
    assert done.rules_to_run("figures", *SMOKE) == {"figure": 1, "figures": 1}


def test_a_changed_pin_of_the_environment_trains_nothing(done):
    path = done.folder / "environment.yml"
    path.write_text(path.read_text() + "      - another==1\n")
    assert done.rules_to_run("all", *SMOKE) == {}


def test_a_misspelt_method_is_an_error_though_the_table_exists(done):
    done.edit("configs/tables/fedaux-table1.yaml", "{method: fedprox,", "{method: fedproxx,")
    said = done.snakemake("tables", *SMOKE)
    assert said.returncode != 0
    assert "method 'fedproxx' has no rule file (did you mean 'fedprox'?)" in said.stdout


def test_a_killed_run_goes_on_and_leaves_no_half_record(tree):
    tree.environment["STAND_IN_SECONDS"] = "30"
    target = RECORD.format("fedavg/default")
    running = subprocess.Popen(
        tree.command(target, *SMOKE), cwd=tree.folder, env=tree.environment, start_new_session=True
    )
    deadline = time.monotonic() + 60
    while not tree.calls("train"):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait(timeout=20)
    assert not (tree.folder / target).exists()
    tree.environment["STAND_IN_SECONDS"] = "0"
    assert tree.snakemake("--unlock", *SMOKE).returncode == 0
    said = tree.snakemake(target, "--workflow-profile", "workflow/profiles/default", *SMOKE)
    assert said.returncode == 0, said.stdout
    assert (tree.folder / target).exists()
    assert len(tree.calls("fetch")) == 1
