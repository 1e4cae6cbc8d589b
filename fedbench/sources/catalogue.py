"""The catalogue: what each data set is, where its raw files come from, and what they must hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import Field

from fedbench.errors import ConfigurationError, nearest
from fedbench.settings import Settings, parse, read_yaml
from fedbench.sources.graph_entry import GraphFile
from fedbench.sources.group_entry import GroupFile
from fedbench.sources.node_entry import NodeFile, PreparedFile, SubsetFile
from fedbench.sources.rec_entry import RecDatasetFile, RecSplitFile

DatasetFile = NodeFile | GraphFile | RecDatasetFile
TASKS: dict[str, type[NodeFile] | type[GraphFile] | type[RecDatasetFile]] = {
    "node": NodeFile,
    "graph": GraphFile,
    "rec": RecDatasetFile,
}


class Entry(Settings):
    """A catalogue entry: a data set, or a subset or another split with the data set it is made of."""

    name: str
    dataset: DatasetFile
    subset: SubsetFile | None = None
    resplit: RecSplitFile | None = Field(None, exclude_if=lambda resplit: resplit is None)

    @property
    def title(self) -> str:
        """Return the name used in tables."""
        return (self.subset or self.resplit or self.dataset).title

    @property
    def size(self) -> float:
        """Return what an epoch's work grows with (`fedbench.sources.size`); another split counts as the set."""
        return (self.subset or self.dataset).size


class GroupEntry(Settings):
    """A catalogue entry of a group, with its members' entries in order."""

    name: str
    group: GroupFile
    members: tuple[Entry, ...]

    @property
    def title(self) -> str:
        """Return the name used in tables."""
        return self.group.title

    @property
    def size(self) -> float:
        """Return the members' sizes together."""
        return sum(member.size for member in self.members)


def load_entry(name: str, configs: Path) -> Entry | GroupEntry:
    """Read ``configs/datasets/<name>.yaml`` and the files of the data sets that it names.

    Raises:
        ConfigurationError: no such data set (names the nearest), or the file breaks its model.
    """
    path = configs / "datasets" / f"{name}.yaml"
    values = read_yaml(path)
    made = next((made for key, made in MADE_OF_OTHERS.items() if key in values), None)
    return made(name, values, path, configs) if made else Entry(name=name, dataset=_dataset(values, str(path)))


def _subset(name: str, values: dict[str, Any], path: Path, configs: Path) -> Entry:
    subset = parse(SubsetFile, values, str(path))
    parent = _named(subset.subset_of, NodeFile, "a subset", path, configs)
    return Entry(name=name, dataset=parent.dataset, subset=subset)


def _prepared(name: str, values: dict[str, Any], path: Path, configs: Path) -> Entry:
    other = parse(PreparedFile, values, str(path))
    parent = _named(other.prepared_from, NodeFile, "another preparation", path, configs).dataset
    assert isinstance(parent, NodeFile)
    prepare = parent.prepare.model_copy(update={"row_normalise": other.row_normalise})
    return Entry(name=name, dataset=parent.model_copy(update={"title": other.title, "prepare": prepare}))


def _resplit(name: str, values: dict[str, Any], path: Path, configs: Path) -> Entry:
    resplit = parse(RecSplitFile, values, str(path))
    parent = _named(resplit.split_of, RecDatasetFile, "another split", path, configs)
    return Entry(name=name, dataset=parent.dataset, resplit=resplit)


def _group(name: str, values: dict[str, Any], path: Path, configs: Path) -> GroupEntry:
    group = parse(GroupFile, values, str(path))
    members = tuple(_named(member, GraphFile, "a group", path, configs) for member in group.members)
    return GroupEntry(name=name, group=group, members=members)


# The key of a file that names other data sets, and what reads it.
MADE_OF_OTHERS: dict[str, Callable[[str, dict[str, Any], Path, Path], Entry | GroupEntry]] = {
    "subset_of": _subset,
    "prepared_from": _prepared,
    "split_of": _resplit,
    "members": _group,
}


def _named(name: str, kind: type[DatasetFile], what: str, path: Path, configs: Path) -> Entry:
    """Return the entry of a data set that the file ``path`` names.

    Raises:
        ConfigurationError: it is a group, or its task is not that of ``kind``.
    """
    task = next(task for task, model in TASKS.items() if model is kind)
    entry = load_entry(name, configs)
    if isinstance(entry, Entry) and isinstance(entry.dataset, kind):
        return entry
    raise ConfigurationError(
        f"read {path}",
        found=f"{what} of '{name}', "
        + (f"whose task is {entry.dataset.task}" if isinstance(entry, Entry) else "which is a group"),
        allowed=f"{what} of a data set whose task is {task}",
        remedy=f"correct {path}",
    )


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
