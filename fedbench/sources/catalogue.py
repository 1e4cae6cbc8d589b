"""The catalogue: what each data set is, where its raw files come from, and what they must hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fedbench.errors import ConfigurationError, nearest
from fedbench.settings import Settings, parse, read_yaml
from fedbench.sources.graph_entry import GraphFile
from fedbench.sources.node_entry import NodeFile, SubsetFile

DatasetFile = NodeFile | GraphFile
TASKS: dict[str, type[NodeFile] | type[GraphFile]] = {"node": NodeFile, "graph": GraphFile}


class Entry(Settings):
    """A catalogue entry: a data set, or a subset with the data set it is cut from."""

    name: str
    dataset: DatasetFile
    subset: SubsetFile | None = None

    @property
    def title(self) -> str:
        """Return the name used in tables."""
        return (self.subset or self.dataset).title


def load_entry(name: str, configs: Path) -> Entry:
    """Read ``configs/datasets/<name>.yaml`` and, for a subset, its parent's file.

    Raises:
        ConfigurationError: no such data set (names the nearest), or the file breaks its model.
    """
    path = configs / "datasets" / f"{name}.yaml"
    values = read_yaml(path)
    if "subset_of" not in values:
        return Entry(name=name, dataset=_dataset(values, str(path)))
    subset = parse(SubsetFile, values, str(path))
    parent = load_entry(subset.subset_of, configs).dataset
    if not isinstance(parent, NodeFile):
        raise ConfigurationError(
            f"read {path}",
            found=f"a subset of '{subset.subset_of}', whose task is {parent.task}",
            allowed="a subset of a data set whose task is node",
            remedy=f"correct {path}",
        )
    return Entry(name=name, dataset=parent, subset=subset)


def _dataset(values: dict[str, Any], where: str) -> DatasetFile:
    task = values.get("task")
    if task not in TASKS:
        raise ConfigurationError(
            f"read {where}",
            found=f"task: {task}{nearest(task, TASKS)}" if isinstance(task, str) else "no task",
            allowed=f"task: {', '.join(TASKS)}",
            remedy=f"correct {where}",
        )
    return parse(TASKS[task], values, where)
