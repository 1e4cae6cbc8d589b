"""What a figure is drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from fedbench.configuration.run import RunName
from fedbench.configuration.table import Row, TableFile
from fedbench.errors import ConfigurationError
from fedbench.files import read_arrays
from fedbench.records.pack import Records
from fedbench.stats.cells import Cell, cells_of, require_complete
from fedbench.stats.labels import label
from fedbench.stats.measures import selected_values
from fedbench.stats.published import load_published

# What a partition's entries are, by task; users and items have no classes.
MEMBERS_WITH_CLASS = {"node": "node", "graph": "graph"}


@dataclass(frozen=True)
class Scene:
    """A suite's table, and where its records, data sets and partitions are; nothing is read before it is used.

    Args:
        table: gives methods (rows), data sets and partitions (panels) and the metric.
        blocks: the suite's seed blocks.
        configs: configuration folder.
        records: a folder of runs or a bundle.
        results: the folder with ``datasets`` and ``partitions``.
        partial: leave out cells without records, and partitions without files, instead of failing.
        remedy: the command that makes missing records, for the message.
    """

    table: TableFile
    blocks: tuple[str, ...]
    configs: Path
    records: Records
    results: Path
    partial: bool = False
    remedy: str = ""

    @cached_property
    def cells(self) -> list[Cell]:
        """Return the cells that have records.

        Raises:
            RecordError: records are missing (unless ``partial``), damaged or invalid.
        """
        table = self.table.model_copy(update={"partition_seeds": 1})
        cells = cells_of(table, self.blocks, self.records)
        if not self.partial:
            require_complete(cells, f"draw '{self.table.title}'", self.remedy)
        return [cell for cell in cells if cell.entries]

    @cached_property
    def ends(self) -> dict[RunName, float]:
        """Return each run's figure as the table has it: mean over seeds of the selected values, in the table's unit."""
        values = {cell.run: selected_values(cell.records, self.table.metric) for cell in self.cells}
        return {run: float(np.mean(list(by_seed.values()))) for run, by_seed in values.items()}

    @cached_property
    def published(self) -> dict[RunName, float]:
        """Return each run's published figure, of the first source that has it; runs without one are left out."""
        figures = load_published(self.table.published, self.configs)
        asked = {cell.run: (cell.run.dataset, cell.run.partition, cell.row.published) for cell in self.cells}
        found = {run: figures.get(*place, self.table.metric.name) for run, place in asked.items()}
        return {run: figure.mean for run, figure in found.items() if figure}

    def left_out(self, dataset: str, partition: str) -> bool:
        """Tell whether a figure of partitions does without this one: ``partial``, and a file isn't there."""
        files = (Path("datasets", f"{dataset}.npz"), Path("partitions", dataset, f"{partition}.npz"))
        return self.partial and not all((self.results / file).exists() for file in files)

    def cells_in(self, dataset: str, partition: str) -> list[Cell]:
        """Return the cells of one panel, in row order."""
        return [cell for cell in self.cells if (cell.run.dataset, cell.run.partition) == (dataset, partition)]

    def label(self, row: Row) -> str:
        """Return a method's name as printed."""
        return label(row, self.cells, self.configs)

    def clients_and_labels(self, dataset: str, partition: str) -> tuple[np.ndarray, np.ndarray]:
        """Return a partition's entries, nodes or graphs, as client int64[m] and label int64[m].

        Raises:
            ConfigurationError: it is one of users and items, which have no classes.
            DataError: the partition or data set file is missing or damaged.
        """
        members, meta = read_arrays(self.results / "partitions" / dataset / f"{partition}.npz")
        task = meta.get("task", "node")
        if task not in MEMBERS_WITH_CLASS:
            raise ConfigurationError(
                f"the classes of {dataset}/{partition}",
                found=f"a partition of task '{task}', which has none",
                allowed=f"task {' or '.join(MEMBERS_WITH_CLASS)}",
                remedy="draw a table of another task, or name the suite's figures without this one",
            )
        data, _ = read_arrays(self.results / "datasets" / f"{dataset}.npz")
        return members["client"], data["y"][members[MEMBERS_WITH_CLASS[task]]]
