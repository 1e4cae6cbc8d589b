"""GF-CF on all clients' pairs: see `tests.reference.methods.gfcf`."""

from __future__ import annotations

from tests.reference.methods.gfcf import scores as scores

TASKS = ("rec",)
