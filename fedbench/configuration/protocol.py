"""Protocols: how long, with which optimiser and which backbone a cell is trained."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from fedbench.configuration.merge import merged
from fedbench.settings import Settings, parse, read_yaml


class ModelSettings(Settings):
    """The backbone every method of a table uses unless its variant says otherwise."""

    backbone: Literal["gcn"] = "gcn"
    layers: int = Field(2, ge=1, description="graph convolutions")
    width: int = Field(128, ge=1, description="hidden width d'")
    dropout: float = Field(0.5, ge=0, lt=1, description="after every hidden activation")
    readout: Literal["linear", "convolution"] = Field(
        "linear", description="last layer: a linear classifier (FED-PUB's code), or a convolution (Kipf & Welling)"
    )


class TrainingSettings(Settings):
    """One cell's schedule, optimiser, and how its accuracy is read off."""

    task: Literal["node"] = "node"
    rounds: int = Field(100, ge=1)
    local_epochs: int = Field(1, ge=1)
    optimiser: Literal["adam"] = "adam"
    learning_rate: float = Field(0.01, gt=0)
    weight_decay: float = Field(1e-6, ge=0)
    keep_optimiser_state: bool = Field(True, description="Adam's moments stay on the client across rounds")
    evaluate_every: int = Field(1, ge=1, description="rounds between evaluations; the last round is always one")
    model: ModelSettings = ModelSettings()


class Protocol(Settings):
    """A protocol file: common settings, and what single data sets change."""

    title: str
    source: str = Field(description="where the values come from, and which are inferred")
    training: TrainingSettings = TrainingSettings()
    datasets: dict[str, dict[str, Any]] = Field({}, description="per data set: keys of `training` to override")


def load_protocol(name: str, configs: Path) -> Protocol:
    """Read ``configs/protocols/<name>.yaml``."""
    path = configs / "protocols" / f"{name}.yaml"
    return parse(Protocol, read_yaml(path), str(path))


def training_for(protocol: Protocol, dataset: str, overrides: Mapping[str, Any], where: str) -> TrainingSettings:
    """Return the settings for one data set: the protocol's, then the data set's, then the variant's ``overrides``."""
    values = protocol.training.model_dump(exclude_unset=True)
    values = merged(values, protocol.datasets.get(dataset, {}))
    return parse(TrainingSettings, merged(values, overrides), where)
