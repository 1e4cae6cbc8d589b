"""The parts of a table specification: rows, how a figure is read, published sources, axes of figures, readings."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fedbench.settings import Settings


class Row(Settings):
    """One row: a method's variant, and the name it has in the published table (None: not published).

    Where a table has several published sources, a mapping gives the name by ``Published.name``.
    """

    method: str
    variant: str = "default"
    published: str | dict[str, str] | None = None
    by_dataset: dict[str, str] = Field({}, description="variant in a data set, where it isn't `variant`")

    def __hash__(self) -> int:
        """Hash by method and variant: a mapping of published names has no hash."""
        return hash((self.method, self.variant))

    @property
    def name(self) -> str:
        """Return ``method/variant``."""
        return f"{self.method}/{self.variant}"

    @property
    def variants(self) -> tuple[str, ...]:
        """Return every variant the row may show, its own first."""
        return tuple(dict.fromkeys((self.variant, *self.by_dataset.values())))

    def variant_in(self, dataset: str) -> str:
        """Return the variant that stands in a data set's columns."""
        return self.by_dataset.get(dataset, self.variant)


class OverClients(Settings):
    """How a figure over clients, such as their standard deviation, is read off the selected rounds."""

    mode: Literal["per_round", "of_means"] = Field(
        "per_round",
        description="per_round: the figure of every round, then the mean over rounds, one a seed (as FedSSP's logger "
        "stores it); of_means: the figure of each client's mean over rounds and seeds, one in all (inferred)",
    )
    ddof: int = Field(0, ge=0, le=1, description="of the deviation over clients; 0 in FedSSP's released code")


class ClientGroup(Settings):
    """Some clients by number; a figure of the group is their plain mean."""

    name: str
    first: int = Field(ge=0)
    last: int = Field(ge=0)


class Metric(Settings):
    """How one figure is read off a seed's record."""

    name: str = Field("accuracy", description="`metric` of the record")
    label: str = Field("", description="heading where a table has several figures (default: the name and the group)")
    group: ClientGroup | None = Field(None, description="clients averaged (default: all); the round is chosen by all")
    chosen_by: str | None = Field(
        None, description="metric whose validation figure chooses the round (default: the metric itself)"
    )
    split: Literal["train", "val", "test", "none"] = "test"
    select: Literal["best_validation_round", "common_best_round", "last_round", "last_rounds"] = Field(
        "best_validation_round",
        description="round read: each seed's best by mean client validation figure (first if tied), the best of the "
        "mean over seeds, or the last; last_rounds: the mean over those of the last `last` that were evaluated",
    )
    last: int = Field(5, ge=1, description="select last_rounds: how many (FedSST: 196 to 200 of 200)")
    over_clients: OverClients = OverClients()
    scale: float = Field(100.0, description="factor from record to table (100: percent)")
    unit: str = "%"
    ddof: int = Field(0, ge=0, le=1, description="0: population standard deviation over seeds")
    decimals: int = 2
    better: Literal["higher", "lower"] = Field("higher", description="which figure of a column is printed bold")

    @property
    def key(self) -> str:
        """Return what tells the figure from others of its table: the name, and the group if there is one."""
        return f"{self.name}, {self.group.name}" if self.group else self.name

    @property
    def heading(self) -> str:
        """Return the figure's heading where a table has several."""
        return self.label or self.key

    @property
    def step(self) -> str:
        """Return the unit of a difference: points for percentages, else the unit itself."""
        return "points" if self.unit == "%" else self.unit


class Published(Settings):
    """Where published figures are: rows of ``configs/published/<file>`` with this paper and table."""

    file: str
    paper: str
    table: str
    name: str = Field("", description="key of a row's mapping of published names")
    metric: str | None = Field(None, description="the metric's name there (default: configs/published/names.yaml)")
    partition: str | None = Field(None, description="the partition's name there (default: names.yaml)")
    scale: float = Field(1.0, gt=0, description="factor from the source's unit to the table's (100: from a fraction)")
    clients: tuple[int, ...] | None = Field(
        None, description="numbers of clients that figures without one stand beside (default: any)"
    )

    @property
    def title(self) -> str:
        """Return paper and table, as printed."""
        return f"{self.paper}, {self.table}"


class Sweep(Settings):
    """A numeric setting that a table's rows differ in: the axis of a figure."""

    setting: str = Field(description="where a record's settings have it, such as method.sigma or training.model.width")
    label: str
    values: dict[str, float] = Field(
        {}, description="by method/variant, for rows whose records leave it at the method's default; others are levels"
    )
    rows: tuple[str, ...] | None = Field(
        None, description="method/variant of the rows that lie on the axis (default: all whose settings say where)"
    )
    log: bool = Field(True, description="logarithmic axis")


class Grid(Settings):
    """Two settings that span a heat map."""

    down: Sweep
    across: Sweep


Against = Literal["pairs", "whole"]
AGAINST = "pairs: mean over pairs of clients; whole: mean over clients, each against all clients' nodes together"


class LabelTerm(Settings):
    """Jensen-Shannon divergence of the clients' label distributions."""

    against: Against = Field("pairs", description=AGAINST)
    base: Literal["2", "e"] = Field("2", description="of the logarithm; base 2 bounds the divergence by 1")
    root: bool = Field(False, description="true: the Jensen-Shannon distance, the root of the divergence")


class FeatureTerm(Settings):
    """Maximum mean discrepancy of the clients' node features (biased estimate, all pairs of nodes)."""

    against: Against = Field("pairs", description=AGAINST)
    kernel: Literal["linear", "rbf"] = Field("rbf", description="linear: distance of the mean features")
    bandwidth: Literal["median", "features"] | float = Field(
        "median",
        description="h of exp(-|x-y|^2 / (2 h^2)): the median distance of distinct nodes; features: exp(-|x-y|^2 / d) "
        "for d features (scikit-learn's default); or a number",
    )
    median_nodes: int = Field(1000, ge=2, description="random nodes whose distances give the median")
    squared: bool = Field(True, description="true: MMD^2")
    most_nodes: int | None = Field(None, ge=2, description="random nodes kept a client (default: all)")


class Reading(Settings):
    """One reading of `xi = JSD + MMD`; the terms that are given are added up."""

    name: str
    label: str
    labels: LabelTerm | None = None
    features: FeatureTerm | None = None
    published: str | None = Field(None, description="as a row's")
