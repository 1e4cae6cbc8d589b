"""Fetch what a catalogue entry needs: one set of raw files, or a group's, one folder a member."""

from __future__ import annotations

from pathlib import Path

from fedbench.files import write_json
from fedbench.sources.catalogue import Entry, GroupEntry
from fedbench.sources.fetch import Fetched, fetch
from fedbench.sources.note import NOTE


def fetch_entry(entry: Entry | GroupEntry, out: Path) -> list[tuple[str, Fetched]]:
    """Fill ``out`` and return each data set's title and which source answered.

    A group's members lie in ``out/<member>``; ``out/source.json``, written last, names the source of each.

    Raises:
        SourceError: no source has the files of a data set, or ``out`` can't be written.
    """
    if isinstance(entry, Entry):
        return [(entry.title, fetch(entry.title, entry.dataset.sources, out))]
    found = [(member.title, fetch(member.title, member.dataset.sources, out / member.name)) for member in entry.members]
    names = {member.name: fetched.source.name for member, (_, fetched) in zip(entry.members, found, strict=True)}
    write_json(out / NOTE, {"members": names})
    return found
