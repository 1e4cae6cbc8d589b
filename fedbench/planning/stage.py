"""The digest of the code behind one sub-command, by which Snakemake tells that a stage's files are stale."""

from __future__ import annotations

from fedbench.provenance.code import modules_used, program_digest
from fedbench.settings import digest_of

CHECKED_BY_SUM = "fedbench.sources"


def stage_digest(command: str) -> str:
    """Return the sha256 of the code that ``fedbench <command>`` uses; comments and docstrings don't count.

    Nor does the code that fetches raw files: their sums are checked, so it can't change what is made of them.
    """
    modules = modules_used((f"fedbench.cli.{command}",))
    return digest_of({name: program_digest(name) for name in modules if not name.startswith(CHECKED_BY_SUM)})
