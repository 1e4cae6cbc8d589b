"""Who may import whom, and what a training job must not load."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEAVY = {"torch_geometric", "ogb", "pandas", "matplotlib", "sklearn", "snakemake"}


def _modules_after(code: str) -> set[str]:
    """Return the top-level modules that a fresh interpreter has loaded after running ``code``."""
    report = f"{code}\nimport json, sys\nprint(json.dumps(sorted({{m.split('.')[0] for m in sys.modules}})))"
    said = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(json.loads(said.stdout.splitlines()[-1]))


def test_the_import_contract_holds(tmp_path):
    program = Path(sys.executable).parent / "lint-imports"
    said = subprocess.run([program, "--no-cache"], capture_output=True, text=True, cwd=ROOT, env={**os.environ})
    assert said.returncode == 0, said.stdout


def test_training_loads_neither_pyg_nor_ogb_nor_pandas():
    loaded = _modules_after(
        "import fedbench.cli.train, fedbench.engine.job\n"
        "from fedbench.methods.registry import build\n"
        "from fedbench.configuration.protocol import TrainingSettings\n"
        "build('fedaux', {}, TrainingSettings()); build('fedpub', {}, TrainingSettings())"
    )
    assert "torch" in loaded
    assert loaded & HEAVY == set()


def test_what_the_snakefile_imports_is_light():
    lines = (ROOT / "workflow/rules/common.smk").read_text().splitlines()
    imports = [line for line in lines if line.startswith(("from fedbench", "import fedbench"))]
    assert len(imports) > 5
    assert _modules_after("\n".join(imports)) & (HEAVY | {"torch", "requests"}) == set()


def test_help_of_every_command_loads_nothing_heavy():
    loaded = _modules_after("from fedbench.cli.__main__ import build_parser\nbuild_parser(None)")
    assert loaded & (HEAVY | {"torch"}) == set()
