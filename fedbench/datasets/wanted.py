"""Which source filled a raw folder, and what reads its files."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from fedbench.errors import SourceError
from fedbench.sources.catalogue import Entry
from fedbench.sources.check import check
from fedbench.sources.formats import GraphLoader, NodeLoader, RecLoader
from fedbench.sources.kinds import Source
from fedbench.sources.note import NOTE, read_note


def source_of(entry: Entry, raw_folder: Path) -> Source:
    """Return the catalogue's source that filled ``raw_folder``, after checking every file's sha256 once more.

    Raises:
        SourceError: the source is not in the catalogue (any more), or a file differs.
    """
    name = read_note(raw_folder).get("source")
    known = {source.name: source for source in entry.dataset.sources}
    if name not in known:
        raise SourceError(
            f"the source of {raw_folder}",
            found=f"{NOTE} says '{name}'",
            allowed=", ".join(known),
            remedy="run `fedbench fetch` again",
        )
    for file in known[name].files:
        check(raw_folder / file.name, file)
    return known[name]


def loader_of(source: Source, formats: Collection[str]) -> NodeLoader | GraphLoader | RecLoader:
    """Return what the catalogue says of reading a source's files.

    Raises:
        SourceError: it says nothing, or names a format of another task.
    """
    if source.loader is None or source.loader.format not in formats:
        named = f"the format '{source.loader.format}'" if source.loader else "no loader"
        raise SourceError(
            f"load the files of source '{source.name}'",
            found=f"it names {named}",
            allowed=f"a loader of format {', '.join(formats)}",
            remedy="correct the catalogue",
        )
    return source.loader
