"""Packs' data laid out as a method's network needs them, made once a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

B = TypeVar("B")


@dataclass(frozen=True)
class OwnBlocks(Generic[B]):
    """The packs' data, by a pack's first client. ``kind``: makes them from the clients and their place."""

    kind: Callable[[Any, Any], B]
    _made: dict[int, B] = field(default_factory=dict)

    def of(self, block: Any, clients: range) -> B:
        """Return a pack's data, the same object in every round: what others make of it is kept by object."""
        if clients.start not in self._made:
            self._made[clients.start] = self.kind(block.clients, block.place)
        return self._made[clients.start]
