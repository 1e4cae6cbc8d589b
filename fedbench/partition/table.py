"""Import a published partition: a table with the columns ``node,client,split``."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path

import numpy as np

from fedbench.datasets.origin import Origin
from fedbench.errors import DataError
from fedbench.partition.kinds import FileScheme
from fedbench.partition.name import PartitionName
from fedbench.partition.store import SPLIT_NAMES
from fedbench.sources.fetch import fetch


def import_table(scheme: FileScheme, name: PartitionName, origin: Origin) -> tuple[np.ndarray, np.ndarray]:
    """Return each node's client (int64[n]) and split (int8[n]), in the data set's order.

    The table names nodes by their place in the raw files, so the raw files must be those it was made with.

    Raises:
        SourceError: the table can't be had, or is not the file the configuration describes.
        DataError: the data set, the number of clients, the seed or the raw files' order is another one, or the
            table doesn't list every node once.
    """
    _refuse_other(scheme, name, origin)
    with tempfile.TemporaryDirectory() as folder:
        source = fetch(scheme.title, scheme.sources, Path(folder)).source
        rows = _rows(Path(folder) / source.files[0].name, scheme)
    rows = rows[np.argsort(rows[:, 0])]
    if not np.array_equal(rows[:, 0], np.sort(origin.raw_position)):
        raise _misfit(scheme, f"{len(rows):,} rows that are not the data set's {origin.raw_position.size:,} nodes")
    rows = rows[np.searchsorted(rows[:, 0], origin.raw_position)]
    return rows[:, 1], rows[:, 2].astype(np.int8)


def _rows(path: Path, scheme: FileScheme) -> np.ndarray:
    """Return int64[m, 3]: raw position, client, split number."""
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = [(int(r["node"]), int(r["client"]), SPLIT_NAMES.index(r["split"])) for r in csv.DictReader(stream)]
    except (KeyError, ValueError) as error:
        raise _misfit(scheme, f"a row that can't be read ({error})") from error
    return np.array(rows, dtype=np.int64)


def _refuse_other(scheme: FileScheme, name: PartitionName, origin: Origin) -> None:
    clients = len(scheme.expected.sizes)
    if origin.meta["dataset"] != scheme.dataset or name.clients != clients or name.seed:
        raise DataError(
            f"the partition {name} of {origin.meta['dataset']}",
            found=f"a table of {scheme.dataset} for {clients} clients",
            allowed=f"{scheme.dataset}, {name.scheme}-{clients}",
            remedy="ask for that partition, or another scheme",
        )
    if origin.meta["format"] != scheme.raw_format:
        raise DataError(
            f"the nodes of the table '{scheme.title}'",
            found=f"raw files from source '{origin.meta['source']}', whose node order is {origin.meta['format']}'s",
            allowed=f"raw files in {scheme.raw_format}'s node order, which the table's ids follow",
            remedy=f"fetch {scheme.dataset} from a source with {scheme.raw_format} files (the mirror: set "
            "FEDBENCH_MIRROR), then make the data set and the partition again",
        )


def _misfit(scheme: FileScheme, found: str) -> DataError:
    return DataError(
        f"the table '{scheme.title}'",
        found=found,
        allowed=f"the columns node, client and split ({', '.join(SPLIT_NAMES)}), every node of the data set once",
        remedy="prepare the data set as the catalogue says, or correct the table",
    )
