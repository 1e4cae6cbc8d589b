"""Raw files to a data set file: check, then build as the data set's task says."""

from __future__ import annotations

from pathlib import Path

from fedbench.datasets.build_graphs import build_graphs
from fedbench.datasets.build_nodes import build_nodes
from fedbench.datasets.graph import GraphDataset
from fedbench.datasets.node import NodeDataset
from fedbench.datasets.wanted import source_of
from fedbench.sources.catalogue import Entry
from fedbench.sources.graph_entry import GraphFile


def build_dataset(entry: Entry, raw_folder: Path, out: Path) -> NodeDataset | GraphDataset:
    """Write the data set file ``out`` and ``<out>.origin.npz`` from a folder of raw files, and return the data set.

    Raises:
        SourceError: the folder's files are not those of a source of the catalogue.
        DataError: a count differs from the catalogue's.
    """
    source, file = source_of(entry, raw_folder), entry.dataset
    if isinstance(file, GraphFile):
        return build_graphs(entry.name, file, source, raw_folder, out)
    return build_nodes(entry.name, file, entry.subset, source, raw_folder, out)
