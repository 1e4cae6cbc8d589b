"""Protocols: how long, with which optimiser and which backbone a cell is trained."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from fedbench.configuration.backbones import LCFNSettings, PinSageSettings
from fedbench.configuration.merge import merged
from fedbench.settings import Settings, parse, read_yaml

TaskName = Literal["node", "graph", "rec"]


class EmbeddingSettings(Settings):
    """Tables of user and item vectors, recommendation only; their width is the model's."""

    deviation: float = Field(0.1, gt=0, description="of the initial vectors' normal distribution")
    frequencies: int = Field(128, ge=1, description="LGCN: Phi, the lowest frequencies of the client's graph it keeps")
    pinsage: PinSageSettings = PinSageSettings()
    lcfn: LCFNSettings = LCFNSettings()


class ModelSettings(Settings):
    """The client network every method of a table uses unless its variant says otherwise."""

    backbone: Literal["gcn", "sage", "gin", "mf", "lightgcn", "ngcf", "lgcn", "pinsage", "lcfn"] = Field(
        "gcn",
        description="graph convolution: GCN, or GraphSAGE with means; of graph classification: GIN; of recommendation: "
        "matrix factorisation (no convolution), LightGCN, NGCF, PinSage, or the low-pass convolutions LGCN and LCFN",
    )
    layers: int = Field(2, ge=1, description="graph convolutions")
    width: int | tuple[int, ...] = Field(128, description="hidden width d', or one a layer; of vectors: one number")
    dropout: float = Field(0.5, ge=0, lt=1, description="after every hidden activation")
    readout: Literal["linear", "convolution"] = Field(
        "linear", description="last layer: a linear classifier (FED-PUB's code), or a convolution (Kipf & Welling)"
    )
    masks: bool | None = Field(None, description="a local mask on every weight matrix; null: as the method has it")
    apv: bool = Field(
        False,
        description="FedAux's projection vector and kernel average in front of any method's classifier (figure 4)",
    )
    embedding: EmbeddingSettings = EmbeddingSettings()

    @property
    def hidden_widths(self) -> tuple[int, ...]:
        """Width of every hidden layer."""
        hidden = self.layers if self.readout == "linear" else self.layers - 1
        return (self.width,) * hidden if isinstance(self.width, int) else self.width

    @model_validator(mode="after")
    def _fits(self) -> ModelSettings:
        if min(self.hidden_widths, default=0) < 1 or len(self.hidden_widths) != self.layers - (
            self.readout == "convolution"
        ):
            raise ValueError("width must be a positive number, or one for each hidden layer (at least one)")
        if self.readout == "convolution" and (self.backbone != "gcn" or self.apv):
            raise ValueError("readout 'convolution' goes with backbone 'gcn' and without apv")
        return self


class RankingSettings(Settings):
    """What a local step of recommendation minimises."""

    loss: Literal["bpr"] = Field("bpr", description="-ln sigmoid(score of a pair - score of one not taken)")
    negatives: int = Field(1, ge=1, description="items not taken, drawn evenly for each pair")
    l2: float = Field(1e-4, ge=0, description="times half the squared untransformed vectors of a batch, a pair")


TASK_BACKBONES = {
    "node": ("gcn", "sage"),
    "graph": ("gin",),
    "rec": ("mf", "lightgcn", "ngcf", "lgcn", "pinsage", "lcfn"),
}


class TrainingSettings(Settings):
    """One cell's schedule, optimiser, and how its accuracy is read off."""

    task: TaskName = "node"
    rounds: int = Field(100, ge=1)
    local_epochs: int = Field(1, ge=1)
    batch_size: int | None = Field(
        None, ge=1, description="training nodes (graphs, pairs) a step; null: all in one step"
    )
    neighbour_samples: tuple[int, ...] | None = Field(
        None, description="GraphSAGE: neighbours drawn per node and layer in training, with replacement; null: all"
    )
    optimiser: Literal["adam", "rmsprop", "sgd"] = "adam"
    learning_rate: float = Field(0.01, gt=0)
    weight_decay: float = Field(1e-6, ge=0)
    keep_optimiser_state: bool = Field(True, description="moments stay on the client across rounds")
    evaluate_every: int = Field(1, ge=1, description="rounds between evaluations; the last round is always one")
    evaluated_after: Literal["local_steps", "download"] = Field(
        "local_steps", description="which model of a round is evaluated: the trained one, or what the server sends back"
    )
    evaluated_on: Literal["client", "whole_graph"] = Field(
        "client",
        description="each client's own nodes in its own subgraph, or all clients' nodes in the whole graph (FedSage)",
    )
    model: ModelSettings = ModelSettings()
    ranking: RankingSettings = RankingSettings()

    @model_validator(mode="after")
    def _backbone_fits(self) -> TrainingSettings:
        allowed = TASK_BACKBONES[self.task]
        if self.model.backbone not in allowed:
            raise ValueError(f"task '{self.task}' needs backbone {' or '.join(allowed)}")
        return self

    @model_validator(mode="after")
    def _task_has_it(self) -> TrainingSettings:
        if self.task != "rec" and (self.ranking, self.model.embedding) != (RankingSettings(), EmbeddingSettings()):
            raise ValueError("ranking and model.embedding are settings of the task 'rec'")
        if self.task == "rec" and (self.evaluated_on != "client" or not isinstance(self.model.width, int)):
            raise ValueError("task 'rec' needs evaluated_on 'client', and one number as width")
        if self.task == "rec" and (self.model.dropout or self.model.masks or self.model.apv):
            raise ValueError("task 'rec' has no dropout, masks or apv: set model.dropout to 0")
        return self

    @model_validator(mode="after")
    def _graphs_have_it(self) -> TrainingSettings:
        if self.task != "graph":
            return self
        if self.evaluated_on != "client" or len(set(self.model.hidden_widths)) > 1:
            raise ValueError("task 'graph' needs evaluated_on 'client', and one width for all layers")
        if self.model.masks or self.model.apv:
            raise ValueError("task 'graph' has no masks and no apv: its networks are the methods' own, or GIN")
        return self

    @model_validator(mode="after")
    def _samples_fit(self) -> TrainingSettings:
        if self.neighbour_samples is not None and (
            self.model.backbone != "sage" or len(self.neighbour_samples) != self.model.layers
        ):
            raise ValueError("neighbour_samples needs backbone 'sage' and one number a layer")
        return self


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
