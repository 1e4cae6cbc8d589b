"""Raw files of several data sets of graphs to the one data set file of their group."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from fedbench.datasets.build_graphs import graphs_of
from fedbench.datasets.graph import GraphDataset
from fedbench.datasets.graph_group import joined
from fedbench.datasets.origin import Origin, origin_of, origin_path, write_origin
from fedbench.datasets.wanted import source_of
from fedbench.sources.catalogue import Entry, GroupEntry
from fedbench.sources.graph_entry import GraphFile


def build_group(entry: GroupEntry, raw_folder: Path, out: Path) -> GraphDataset:
    """Write the data set file ``out`` and ``<out>.origin.npz`` from ``raw_folder/<member>``, and return the data set.

    Raises:
        SourceError: a member's files are not those of a source of the catalogue.
        DataError: a member's files don't fit together, or a count differs from the catalogue's.
    """
    parts, origins = zip(*(_member(member, raw_folder / member.name) for member in entry.members), strict=True)
    position = np.concatenate([np.arange(part.nodes) for part in parts])
    dataset = joined(entry.name, parts)
    write_origin(origin_path(out), Origin(position, {"dataset": entry.name, "members": list(origins)}))
    dataset.write(out)
    return dataset


def _member(entry: Entry, folder: Path) -> tuple[GraphDataset, dict[str, Any]]:
    """Return one member, and what its origin says of the source."""
    source, file = source_of(entry, folder), entry.dataset
    assert isinstance(file, GraphFile)  # the catalogue lets nothing else into a group
    return graphs_of(entry.name, file, source, folder), origin_of(entry.name, source, np.zeros(0)).meta
