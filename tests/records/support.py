"""A small world for tests: configuration files, data files and records made through the public `write_record`."""

import resource
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

from fedbench.cli.__main__ import main
from fedbench.configuration.run import RunName, block_name, resolve
from fedbench.files import sha256_of, write_arrays
from fedbench.provenance import code_digest
from fedbench.records.check import name_of
from fedbench.records.schema import COLUMNS, Digests, RunHeader, SeedCost
from fedbench.records.store import Record, table_of, write_record
from fedbench.settings import digest_of

# split -> seed -> rounds -> clients
Figures = Mapping[str, Mapping[int, Sequence[Sequence[float]]]]
RUN = RunName(protocol="toy", dataset="cora", partition="metis-2", method="local")
PUBLISHED = """paper,table,dataset,partition,clients,method,metric,mean,std,source
Toy,Table 1,Cora,METIS disjoint,2,Local,accuracy_%,70.00,0.50,made up
Toy,Table 1,Cora,METIS disjoint,2,FedAvg,accuracy_%,60.00,,made up
Toy,Table 1,Cora,METIS disjoint,2,FedPer,accuracy_%,50.00,0.10,made up
"""
TABLE = {
    "title": "Toy",
    "caption": "A toy table.",
    "protocol": "toy",
    "datasets": ["cora"],
    "partitions": ["metis-2"],
    "published": {"file": "toy.csv", "paper": "Toy", "table": "Table 1"},
    "rows": [
        {"method": "local", "published": "Local"},
        {"method": "fedavg", "published": "FedAvg"},
        {"method": "fedper", "published": "FedPer"},
        {"method": "majority"},
    ],
}
PROTOCOL = {"title": "Toy", "source": "nobody's", "training": {"rounds": 2}}
NAMES = {"datasets": {"cora": "Cora"}, "partitions": {"metis": "METIS disjoint"}, "metrics": {"accuracy": "accuracy_%"}}


def rows_of(figures: Figures, metric: str = "accuracy") -> dict[str, list]:
    """Return tidy columns; rounds count from 1."""
    columns: dict[str, list] = {name: [] for name in COLUMNS}
    for split, by_seed in figures.items():
        for seed, rounds in by_seed.items():
            for number, clients in enumerate(rounds, start=1):
                for client, value in enumerate(clients):
                    row = (seed, client, number, split, metric, value)
                    for name, item in zip(COLUMNS, row, strict=True):
                        columns[name].append(item)
    return columns


def header_of(run: RunName, seeds: Sequence[int], **changes: object) -> RunHeader:
    """Return a header that needs no files: free settings, digests that mean nothing."""
    settings = {"training": {"rounds": 2}, "method": {}}
    digests = Digests(settings=digest_of(settings), dataset="d" * 64, partition="p" * 64, code="c" * 64)
    fixed = {"task": "node", "clients": 2, "label": run.method, "settings": settings, "digests": digests}
    more = {"seeds": tuple(seeds), "versions": {"python": "3.11"}, "device": "cpu", **changes}
    return RunHeader(**{**run.model_dump(), **fixed, **more})


def record_of(figures: Figures, run: RunName = RUN, metric: str = "accuracy", **changes: object) -> Record:
    """Return a record of ``figures``."""
    seeds = sorted({seed for by_seed in figures.values() for seed in by_seed})
    return Record(header_of(run, seeds, **changes), table_of(rows_of(figures, metric)))


def flat(test: float, val: float = 0.5, seeds: Sequence[int] = (0, 1)) -> Figures:
    """Return figures of two rounds and two clients that all equal ``test`` at the better round."""
    return {
        "val": {seed: [[val, val], [val + 0.1, val + 0.1]] for seed in seeds},
        "test": {seed: [[0.1, 0.1], [test, test]] for seed in seeds},
    }


def costs(seeds: Sequence[int], up: int = 1000, down: int = 600) -> tuple[SeedCost, ...]:
    """Return costs of two rounds; seconds depend on the seed."""
    return tuple(
        SeedCost(seed=s, parameters=50, bytes_up=up, bytes_down=down, training_seconds=1 + s, total_seconds=2 + s)
        for s in seeds
    )


@dataclass
class World:
    """Configuration, data files and records under one folder."""

    root: Path

    @property
    def configs(self) -> Path:
        return self.root / "configs"

    @property
    def results(self) -> Path:
        return self.root / "results"

    @property
    def records(self) -> Path:
        return self.results / "records"

    def configure(self, kind: str, name: str, values: Mapping[str, object]) -> None:
        path = self.configs / kind / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(dict(values), sort_keys=False))

    def suite(self, seeds: int = 2, per_job: int = 2, **tables: Mapping[str, object]) -> None:
        chosen = {name: {} for name in tables or {"toy": {}}}
        for name, table in (tables or {"toy": TABLE}).items():
            self.configure("tables", name, table)
        values = {"title": "S", "description": "-", "seeds": seeds, "seeds_per_job": per_job, "tables": chosen}
        self.configure("suites", "s", values)

    def write(self, figures: Figures, run: RunName = RUN, **changes: object) -> Path:
        """Write a record made with the present settings, data and code."""
        settings = resolve(run, self.configs).model_dump(mode="json")
        digests = Digests(
            settings=digest_of(settings),
            dataset=sha256_of(self.results / "datasets" / f"{run.dataset}.npz"),
            partition=sha256_of(self.results / "partitions" / run.dataset / f"{run.partition}.npz"),
            code=code_digest(run.method),
        )
        record = record_of(figures, run, **{"settings": settings, "digests": digests, **changes})
        path = self.records / f"{name_of(record.header)}.parquet"
        write_record(path, record)
        return path

    def fill(self, seeds: Sequence[int] = (0, 1), per_job: int = 2) -> None:
        """Write records of the toy table's four methods: 0.702, 0.63, 0.48 and 0.4 at the chosen round."""
        for method, test in {"local": 0.702, "fedavg": 0.63, "fedper": 0.48, "majority": 0.4}.items():
            for start in range(0, len(seeds), per_job):
                block = tuple(seeds[start : start + per_job])
                self.write(flat(test, seeds=block), RUN.model_copy(update={"method": method}), costs=costs(block))

    def run(self, *words: object) -> int:
        return main([str(word) for word in words])

    def table(self, *more: object, name: str = "toy", records: Path | None = None, out: str = "tables") -> int:
        where = ["--configs", self.configs, "--records", records or self.records, "--out", self.root / out]
        return self.run("table", name, "--suite", "s", *where, "--results", self.results, *more)


def make_world(root: Path) -> World:
    """Return a world with the toy table, its protocol and data, and no records."""
    world = World(root)
    world.suite()
    world.configure("protocols", "toy", PROTOCOL)
    world.configure("published", "names", NAMES)
    (world.configs / "published" / "toy.csv").write_text(PUBLISHED)
    data = {"y": np.array([0, 0, 1, 1, 2])}
    write_arrays(world.results / "datasets" / "cora.npz", data, {"dataset": "cora"})
    members = {"client": np.array([0, 0, 0, 1, 1]), "node": np.arange(5), "split": np.array([0, 1, 2, 0, 2], np.int8)}
    write_arrays(world.results / "partitions" / "cora" / "metis-2.npz", members, {"clients": 2})
    return world


def block_of(seeds: Sequence[int]) -> str:
    return block_name(tuple(seeds))


@contextmanager
def full_disk(limit: int = 64) -> Iterator[None]:
    """Let every file end after ``limit`` bytes, as on a full disk: writing more raises OSError."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
