"""Changes of code that retraining has shown to change no figure, and settings that have been added since."""

import subprocess

import pytest

import fedbench.verification.retrain
from fedbench.configuration.run import resolve
from fedbench.errors import RecordError
from fedbench.files import sha256_of, write_arrays
from fedbench.provenance import code_digest
from fedbench.records.check import Present
from fedbench.records.confirmed import FILE, Confirmation, Confirmations, read_confirmations, write_confirmations
from fedbench.records.pack import open_records
from fedbench.records.schema import Digests, SeedCost
from fedbench.records.store import Record, read_record, write_record
from fedbench.settings import digest_of
from fedbench.verification.confirm import representatives
from tests.records.support import RUN, costs, flat, header_of, record_of


def confirmation(**changes):
    values = {"method": "local", "variant": "default", "made_with": "old", "now": "new", "record": "r", "seed": 0}
    return Confirmation(**{**values, "figures": 8, **changes})


def old_header(**changes):
    digests = Digests(settings="s", dataset="d", partition="p", code="old")
    return header_of(RUN.model_copy(update=changes), (0,), digests=digests)


@pytest.mark.parametrize(
    ("header", "now", "covered"),
    [
        (old_header(), "new", True),
        (old_header(), "newer", False),
        (old_header(), None, False),
        (old_header(method="fedavg"), "new", False),
        (old_header(variant="other"), "new", False),
        (old_header(), "old", False),
    ],
)
def test_a_confirmation_covers_one_variant_and_one_pair_of_digests(header, now, covered):
    assert Confirmations((confirmation(),)).cover(header, now) is covered


@pytest.mark.parametrize(
    ("links", "covered"),
    [
        ([("old", "new"), ("new", "newer")], True),  # a change after a change
        ([("old", "new"), ("other", "new"), ("other", "newer")], True),  # by way of a record with other code
        ([("old", "new"), ("other", "newer")], False),
    ],
)
def test_code_alike_to_alike_code_is_alike(links, covered):
    known = tuple(confirmation(made_with=before, now=after) for before, after in links)
    assert Confirmations(known).cover(old_header(), "newer") is covered


def test_confirmations_are_kept_by_pair_of_digests(tmp_path):
    assert read_confirmations(tmp_path) == Confirmations()
    write_confirmations(tmp_path, [confirmation(), confirmation(variant="other")])
    write_confirmations(tmp_path, [confirmation(now="newer"), confirmation(record="s")])
    found = {(c.variant, c.now, c.record) for c in read_confirmations(tmp_path).known}
    assert found == {("default", "new", "s"), ("default", "newer", "r"), ("other", "new", "r")}


def test_code_that_is_alike_is_retrained_once(world):
    """Of two records with different code that an earlier confirmation joined, the cheaper alone."""
    for partition, code, seconds in (("metis-2", "a", 5), ("metis-3", "b", 3), ("metis-4", "c", 9)):
        write_arrays(world.results / "partitions" / "cora" / f"{partition}.npz", {}, {})
        run = RUN.model_copy(update={"partition": partition})
        path = world.write(flat(0.7, seeds=(0,)), run, costs=(SeedCost(seed=0, parameters=1, total_seconds=seconds),))
        record = read_record(path)
        digests = record.header.digests.model_copy(update={"code": code})
        write_record(path, Record(record.header.model_copy(update={"digests": digests}), record.table))
    known = Confirmations((confirmation(made_with="a", now="b"),))
    records = open_records(world.records)
    present = Present(world.configs, world.results, known)
    chosen = representatives([entry for entry in map(records.get, records.names()) if entry], present)
    assert [entry.record.header.partition for entry in chosen] == ["metis-3", "metis-4"]


def test_a_damaged_file_is_told(tmp_path):
    (tmp_path / FILE).write_text('{"method": 3')
    with pytest.raises(RecordError, match="check the file out again"):
        read_confirmations(tmp_path)


@pytest.fixture
def with_other_code(world, monkeypatch):
    """Two records of one method, the second cheaper; then the code changes."""
    world.write(flat(0.702), RUN.model_copy(update={"dataset": "cora"}), costs=costs((0, 1)))
    monkeypatch.setattr("fedbench.provenance.code_digest", lambda method, task: "new")
    return world


def train_with(monkeypatch, figure, asked):
    def trainer(configs, results, device):
        def train(run, seeds):
            asked.append((run.method, seeds))
            return record_of(flat(figure, seeds=seeds), run=run)

        return train

    monkeypatch.setattr(fedbench.verification.retrain, "engine_trainer", trainer)


def confirm(world, *more):
    where = ["--bundle", world.records, "--configs", world.configs, "--results", world.results]
    return world.run("verify", "--confirm", *where, *more)


def check(world):
    return world.run("check", "--records", world.records, "--configs", world.configs, "--results", world.results)


def test_equal_figures_confirm_and_make_the_record_fresh(with_other_code, monkeypatch):
    asked = []
    train_with(monkeypatch, 0.702, asked)
    assert check(with_other_code) == 1
    assert confirm(with_other_code) == 0
    assert asked == [("local", (0,))]
    assert check(with_other_code) == 0
    (line,) = read_confirmations(with_other_code.records).known
    assert (line.made_with, line.now, line.figures) == (code_digest("local"), "new", 8)


def test_another_figure_confirms_nothing(with_other_code, monkeypatch):
    train_with(monkeypatch, 0.7021, [])
    assert confirm(with_other_code) == 1
    assert not (with_other_code.records / FILE).exists()
    assert check(with_other_code) == 1


@pytest.fixture
def elsewhere(with_other_code, monkeypatch):
    """A processor that gives 0.7021 where the records have 0.702; returns what an earlier checkout gives here."""
    train_with(monkeypatch, 0.7021, [])

    def earlier(figure, code):
        def trainer(checkout, results, device):
            assert checkout.is_absolute()
            digests = Digests(settings="s", dataset="d", partition="p", code=code)
            return lambda run, seeds: record_of(flat(figure, seeds=seeds), run=run, digests=digests)

        monkeypatch.setattr(fedbench.verification.retrain, "checkout_trainer", trainer)

    return earlier


@pytest.mark.parametrize(("figure", "status"), [(0.7021, 0), (0.7022, 1)])
def test_on_another_processor_both_programs_are_compared_there(with_other_code, elsewhere, figure, status):
    elsewhere(figure, code_digest("local"))
    assert confirm(with_other_code, "--before", "earlier") == status
    assert check(with_other_code) == status


def test_the_earlier_checkout_must_have_the_code_of_the_records(with_other_code, elsewhere, capsys):
    elsewhere(0.7021, "a third")
    assert confirm(with_other_code, "--before", "earlier") == 1
    assert "its code has the digest a third" in capsys.readouterr().err
    write_confirmations(with_other_code.records, [confirmation(made_with=code_digest("local"), now="a third")])
    assert confirm(with_other_code, "--before", "earlier") == 0


def test_another_checkout_trains_with_its_own_package(tmp_path):
    """Even where the working directory has a package of the same name."""
    package = tmp_path / "fedbench" / "cli"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("")
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text("open('ran', 'w').close(); raise SystemExit(3)")
    with pytest.raises(subprocess.CalledProcessError) as error:
        fedbench.verification.retrain.checkout_trainer(tmp_path, tmp_path, "cpu")(RUN, (0,))
    assert error.value.returncode == 3
    assert (tmp_path / "ran").exists()


def test_the_cheapest_record_stands_for_its_variant(with_other_code, monkeypatch):
    asked = []
    train_with(monkeypatch, 0.702, asked)
    cheap = tuple(cost.model_copy(update={"total_seconds": 0.5}) for cost in costs((4,)))
    with_other_code.write(flat(0.702, seeds=(4,)), costs=cheap)
    assert confirm(with_other_code) == 0
    assert asked == [("local", (4,))]


def test_fresh_records_and_other_staleness_are_not_retrained(world, monkeypatch):
    asked = []
    train_with(monkeypatch, 0.702, asked)
    world.write(flat(0.702))
    assert confirm(world) == 0
    world.configure("protocols", "toy", {"title": "T", "source": "s", "training": {"rounds": 3}})
    monkeypatch.setattr("fedbench.provenance.code_digest", lambda method, task: "new")
    assert confirm(world) == 0
    assert asked == []


@pytest.mark.parametrize(("value", "stale"), [("client", []), ("whole_graph", ["settings"])])
def test_a_setting_added_since_counts_with_its_default(world, value, stale):
    settings = resolve(RUN, world.configs).model_dump(mode="json")
    if value == "client":
        del settings["training"]["evaluated_on"]
    else:
        settings["training"]["evaluated_on"] = value
    digests = Digests(
        settings=digest_of(settings),
        dataset=sha256_of(world.results / "datasets" / "cora.npz"),
        partition=sha256_of(world.results / "partitions" / "cora" / "metis-2.npz"),
        code=code_digest("local"),
    )
    header = header_of(RUN, (0,), settings=settings, digests=digests)
    assert Present(world.configs, world.results).stale(header) == stale
