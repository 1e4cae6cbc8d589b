"""Bad input ends with a message that names the fault and the nearest right name."""

import pytest


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (["suite=quikc"], "did you mean 'quick'?"),
        (["suit=quick"], "unknown key 'suit' (did you mean 'suite'?)"),
        (["suite=smoke", "also=fedavgg"], "method 'fedavgg' has no rule file (did you mean 'fedavg'?)"),
        (["suite=smoke", "also=fedavg/rounds-20"], "did you mean 'rounds-200'?"),
        (["suite=smoke", "device=tpu"], "device: Input should be 'cpu' or 'cuda'"),
    ],
)
def test_the_command_line(tree, config, message):
    said = tree.snakemake("tables", "--config", *config)
    assert said.returncode != 0
    assert message in said.stdout
    assert "Traceback" not in said.stdout


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\nseeds: 2", "\nseeds: 2\nsedes: 3", "unknown key 'sedes' (did you mean 'seeds'?)"),
        ("[cora-mini]", "[cora-mimi]", "cora-mimi.yaml (did you mean 'cora-mini'?)"),
        ("[metis-3]", "[meits-3]", "meits.yaml (did you mean 'metis'?)"),
        ("[metis-3]", "[metis-three]", "a name that doesn't follow the pattern"),
        ("protocol: smoke", "protocol: smoky", "did you mean 'smoke'?"),
        ("fedaux-table1:", "fedaux-tabel1:", "did you mean 'fedaux-table1'?"),
        ("\nseeds: 2", "\nseeds: 0", "greater than or equal to 1"),
    ],
)
def test_a_suite(tree, old, new, message):
    tree.edit("configs/suites/smoke.yaml", old, new)
    said = tree.snakemake("-n", "tables", "--config", "suite=smoke")
    assert said.returncode != 0
    assert message in said.stdout
    assert "Traceback" not in said.stdout


def test_a_rule_file_that_is_not_there(tree):
    said = tree.snakemake("-n", "tables", "--config", "suite=smoke", "rules=examples/none.smk", "also=none")
    assert said.returncode != 0
    assert "none.smk" in said.stdout
