"""Reading an artefact of ours: arrays by name, and the task it belongs to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from fedbench.errors import DataError
from fedbench.files import read_arrays


def read_artefact(
    path: Path, names: tuple[str, ...], *, kind: str, task: str
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the arrays and the description of a file that must be of one kind (the command that makes it) and task.

    Raises:
        DataError: it is missing, damaged, of another task, or has other arrays.
    """
    arrays, meta = read_arrays(path)
    if set(arrays) != set(names) or meta.get("task") != task:
        raise DataError(
            f"read the {kind} {path}",
            found=f"task {meta.get('task')}, arrays {', '.join(sorted(arrays))}",
            allowed=f"task {task}, arrays {', '.join(names)}",
            remedy=f"run `fedbench {kind}` again",
        )
    return arrays, meta
