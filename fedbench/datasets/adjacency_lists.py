"""The adjacency-list text of DGCNN (Zhang et al. 2018), also used by GIN (Xu et al. 2019)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fedbench.datasets.raw_graphs import RawGraphs, raw_graphs
from fedbench.errors import DataError
from fedbench.sources.formats import AdjacencyListFile


def load(folder: Path, loader: AdjacencyListFile) -> RawGraphs:
    """Return the graphs in the file's order.

    The file has the number of graphs; for each graph a line ``nodes label``, and for each of its nodes a line ``tag
    degree neighbour neighbour ...`` with the neighbours' numbers in the graph, from 0. The tags are not read.

    Raises:
        DataError: the file ends too early or goes on after its last graph.
    """
    numbers = np.fromstring((folder / loader.file).read_bytes(), dtype=np.int64, sep=" ")
    try:
        return _graphs(numbers)
    except IndexError as error:
        raise _failure(loader.file, f"it ends after {numbers.size:,} numbers") from error


def _graphs(numbers: np.ndarray) -> RawGraphs:
    sizes, labels = np.empty(numbers[0], np.int64), np.empty(numbers[0], np.int64)
    edges, place, base = [], 1, 0
    for graph in range(sizes.size):
        sizes[graph], labels[graph] = numbers[place], numbers[place + 1]
        source, target, place = _edges(numbers, place + 2, int(sizes[graph]))
        edges.append(np.stack([source, target]) + base)
        base += int(sizes[graph])
    if place != numbers.size:
        raise _failure("the adjacency lists", f"{numbers.size - place:,} numbers after the last graph")
    return raw_graphs(sizes, np.concatenate(edges, axis=1), labels)


def _edges(numbers: np.ndarray, place: int, nodes: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the edges of the graph whose first node's line begins at ``place``, and where its lines end."""
    degrees, targets = np.empty(nodes, np.int64), []
    for node in range(nodes):
        degrees[node] = degree = int(numbers[place + 1])
        targets.append(numbers[place + 2 : place + 2 + degree])
        place += 2 + degree
    if place > numbers.size:
        raise IndexError("the last line is cut short")
    return np.repeat(np.arange(nodes), degrees), np.concatenate(targets), place


def _failure(what: str, found: str) -> DataError:
    return DataError(f"read {what}", found=found, remedy="fetch the file again")
