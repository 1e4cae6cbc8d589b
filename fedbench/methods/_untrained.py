"""Controls that train nothing: no local step is taken, nothing leaves a client."""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import Tensor

from fedbench.methods.base import Method
from fedbench.methods.exchange import Cell
from fedbench.settings import Settings

S = TypeVar("S", bound=Settings)


class Untrained(Method[S]):
    """A method whose network has no parameters."""

    def local_epochs(self, round: int, cell: Cell, memory: object) -> Tensor:
        """Return 0 for everyone."""
        return torch.zeros(len(cell.seeds), cell.clients, dtype=torch.int64)
