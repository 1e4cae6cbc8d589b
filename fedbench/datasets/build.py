"""Raw files to a data set file: check, then build as the data set's task says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from fedbench.datasets.build_graphs import build_graphs
from fedbench.datasets.build_group import build_group
from fedbench.datasets.build_nodes import build_nodes
from fedbench.datasets.graph import GraphDataset
from fedbench.datasets.node import NodeDataset
from fedbench.datasets.rec.build import build_rec
from fedbench.datasets.rec.store import RecDataset
from fedbench.datasets.wanted import source_of
from fedbench.sources.catalogue import Entry, GroupEntry
from fedbench.sources.kinds import Source

AnyDataset = NodeDataset | GraphDataset | RecDataset


def build_dataset(entry: Entry | GroupEntry, raw_folder: Path, out: Path) -> AnyDataset:
    """Write the data set file ``out`` and ``<out>.origin.npz`` from a folder of raw files, and return the data set.

    Raises:
        SourceError: the folder's files are not those of a source of the catalogue.
        DataError: a count differs from the catalogue's.
    """
    if isinstance(entry, GroupEntry):
        return build_group(entry, raw_folder, out)
    return BUILDERS[entry.dataset.task](entry, source_of(entry, raw_folder), raw_folder, out)


# Each takes the entry, the source that filled the folder of raw files, that folder, and the file to write.
BUILDERS: dict[str, Callable[[Any, Source, Path, Path], AnyDataset]] = {
    "node": lambda entry, *rest: build_nodes(entry.name, entry.dataset, entry.subset, *rest),
    "graph": lambda entry, *rest: build_graphs(entry.name, entry.dataset, *rest),
    "rec": lambda entry, *rest: build_rec(entry.name, entry.dataset, entry.resplit, *rest),
}
