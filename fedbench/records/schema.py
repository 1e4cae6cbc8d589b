"""The schema of a run record: a tidy table (parquet) and a header (JSON) of the same name.

Table columns: ``seed``, ``client``, ``round`` (int32), ``split``, ``metric`` (string), ``value`` (float64).
One row a measurement. ``client`` is -1 for a figure that belongs to no single client.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from fedbench.settings import Settings

SCHEMA_VERSION = 1
COLUMNS = {
    "seed": "int32",
    "client": "int32",
    "round": "int32",
    "split": "string",
    "metric": "string",
    "value": "double",
}
SPLITS = ("train", "val", "test", "none")


class Digests(Settings):
    """sha256 of everything a run depends on."""

    settings: str = Field(description="resolved RunSettings as canonical JSON")
    dataset: str = Field(description="the data set file")
    partition: str = Field(description="the partition file")
    code: str = Field(description="the source the method uses; for an outside program, the program's file(s)")


class SeedCost(Settings):
    """What one seed cost. Seconds are CPU seconds of the process unless named otherwise."""

    seed: int
    steps: int = Field(0, description="optimiser steps of the client that took most, summed over rounds")
    steps_of_all: int | None = Field(None, description="optimiser steps of all clients; None in records from before")
    parameters: int = Field(0, description="trainable parameters of one client")
    bytes_up: int = Field(0, description="client to server, all clients and rounds")
    bytes_down: int = Field(0, description="server to client, all clients and rounds")
    training_seconds: float = Field(0.0, description="inside local training and the server's step")
    evaluation_seconds: float = 0.0
    total_seconds: float = Field(0.0, description="the seed's share of the job, without process start")
    wall_seconds: float = 0.0


class RunHeader(Settings):
    """Header of a run record."""

    schema_version: Literal[1] = 1
    task: Literal["node", "graph", "rec"]
    protocol: str
    dataset: str
    partition: str
    clients: int = Field(ge=1)
    method: str
    variant: str
    label: str
    seeds: tuple[int, ...] = Field(min_length=1)
    settings: dict[str, Any] = Field(description="resolved RunSettings; free form for an outside program")
    digests: Digests
    versions: dict[str, str] = Field(description="fedbench, python, and the libraries that computed the figures")
    device: str
    peak_memory_mb: float = Field(0.0, description="largest resident set of the process")
    startup_seconds: float = Field(0.0, description="CPU seconds from process start to the first round")
    costs: tuple[SeedCost, ...] = ()
    diagnostics: dict[str, Any] = Field({}, description="per method: what explains the figures, e.g. mixing matrices")

    @model_validator(mode="after")
    def _one_cost_per_seed(self) -> RunHeader:
        if self.costs and tuple(cost.seed for cost in self.costs) != self.seeds:
            raise ValueError("costs must list the record's seeds, in order")
        return self
