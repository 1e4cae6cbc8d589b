"""Where a figure comes from: digests of the code a run uses, and versions of what computed it."""

from fedbench.provenance.code import code_digest
from fedbench.provenance.versions import versions

__all__ = ["code_digest", "versions"]
