"""A small configuration folder and a maker of past records."""

import json
import shutil
from pathlib import Path

import pytest
import yaml

from fedbench.records.schema import Digests, RunHeader, SeedCost

CONFIGS = Path(__file__).parents[2] / "configs"
FILES = {
    "suites/tiny.yaml": {
        "title": "Tiny",
        "description": "two tables that share runs",
        "seeds": 3,
        "seeds_per_job": 2,
        "tables": {"one": {}, "two": {"partitions": ["metis-3"]}},
    },
    "tables/one.yaml": {
        "title": "One",
        "caption": "",
        "protocol": "short",
        "datasets": ["cora"],
        "partitions": ["metis-3", "metis-5"],
        "rows": [{"method": "fedavg"}, {"method": "local"}],
    },
    "tables/two.yaml": {
        "title": "Two",
        "caption": "",
        "protocol": "short",
        "datasets": ["cora"],
        "partitions": ["metis-5"],
        "rows": [{"method": "fedavg"}, {"method": "fedavg", "variant": "long"}],
    },
    "protocols/short.yaml": {"title": "Short", "source": "nobody", "training": {"rounds": 10, "local_epochs": 2}},
    "methods/fedavg.yaml": {"label": "FedAvg", "variants": {"default": {}, "long": {"training": {"rounds": 40}}}},
}


@pytest.fixture
def configs(tmp_path: Path) -> Path:
    """Write the files and return their folder."""
    for name, values in FILES.items():
        path = tmp_path / "configs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(values))
    for name in ("datasets/cora.yaml", "datasets/pubmed.yaml", "partitions/metis.yaml"):
        (tmp_path / "configs" / name).parent.mkdir(exist_ok=True)
        shutil.copy(CONFIGS / name, tmp_path / "configs" / name)
    return tmp_path / "configs"


@pytest.fixture
def past_record(tmp_path: Path):
    """Return a function that writes the record of one past run and returns the folder of records."""

    def write(method="fedavg", dataset="cora", clients=3, seconds=4.0, rounds=10, startup=2.0) -> Path:
        header = RunHeader(
            task="node",
            protocol="short",
            dataset=dataset,
            partition=f"metis-{clients}",
            clients=clients,
            method=method,
            variant="default",
            label=method,
            seeds=(0, 1),
            settings={"training": {"rounds": rounds, "local_epochs": 2}},
            digests=Digests(settings="", dataset="", partition="", code=""),
            versions={},
            device="cpu",
            startup_seconds=startup,
            costs=tuple(SeedCost(seed=seed, total_seconds=seconds) for seed in (0, 1)),
        )
        path = tmp_path / f"records/short/{dataset}/metis-{clients}/{method}/default/seeds-0-1.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(header.model_dump(mode="json")))
        path.with_suffix(".parquet").touch()
        return tmp_path / "records"

    return write
