"""Stand-ins for `torch_scatter` and `torch_sparse`, which build from source for minutes.

OpenFGL's FED-PUB imports both but calls one function, `scatter_add`, for the degrees of the nodes; `SparseTensor`
appears in `isinstance` checks and annotations only, on graphs that are plain edge lists here. `scatter_add` is written
as in torch_scatter 2.1 (zeros, then torch's own `scatter_add_`), so neither result nor cost changes.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, NoReturn

import torch
import torch_geometric  # noqa: F401  (imported first: PyG must not take the stand-ins for the real packages)


def scatter_add(src: torch.Tensor, index: torch.Tensor, dim: int = -1, dim_size: int | None = None) -> torch.Tensor:
    """Sum the entries of a vector that share an index."""
    size = [int(index.max()) + 1 if dim_size is None else dim_size]
    return torch.zeros(size, dtype=src.dtype, device=src.device).scatter_add_(dim, index, src)


class SparseTensor:
    """A name to check types against; nothing here is ever one."""


def _absent(*_: Any, **__: Any) -> NoReturn:
    raise NotImplementedError("the benchmark's stand-in for torch_sparse has no operations; install torch-sparse")


def install() -> None:
    """Make `import torch_scatter` and `import torch_sparse` find the stand-ins."""
    scatter, sparse = ModuleType("torch_scatter"), ModuleType("torch_sparse")
    scatter.scatter_add = scatter_add  # type: ignore[attr-defined]
    sparse.SparseTensor = SparseTensor  # type: ignore[attr-defined]
    for name in ("fill_diag", "matmul", "mul", "sum"):
        setattr(sparse, name, _absent)
    sys.modules.update(torch_scatter=scatter, torch_sparse=sparse)
