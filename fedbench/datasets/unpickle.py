"""Open the Python 2 pickles of Planetoid, and nothing else.

Only the names those files need are known; the CSR class becomes a plain holder of its attributes, because the module
that the files name (``scipy.sparse.csr``) goes away in SciPy 2.
"""

from __future__ import annotations

import collections
import pickle
from pathlib import Path
from typing import Any

import numpy as np
from numpy._core.multiarray import _reconstruct
from scipy import sparse

from fedbench.errors import DataError


class _CsrState:
    """Receives the attributes of a pickled CSR matrix."""


_ALLOWED: dict[tuple[str, str], Any] = {
    ("scipy.sparse.csr", "csr_matrix"): _CsrState,
    ("numpy.core.multiarray", "_reconstruct"): _reconstruct,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("collections", "defaultdict"): collections.defaultdict,
    ("__builtin__", "list"): list,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Return one of the few allowed objects."""
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"it names {module}.{name}, which such a file never needs") from None


def unpickle(path: Path) -> Any:
    """Return the content of one Planetoid pickle: an array, a CSR matrix, or a dictionary of lists.

    The caller has checked the file's sha256.

    Raises:
        DataError: the file names anything but the few types Planetoid uses, or is damaged.
    """
    try:
        with path.open("rb") as stream:
            content = _Unpickler(stream, encoding="latin1").load()
    except (pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError) as error:
        raise DataError(
            f"unpickle {path}",
            found=str(error),
            allowed="a Planetoid file: " + ", ".join(".".join(pair) for pair in _ALLOWED),
            remedy="fetch the file again",
        ) from error
    return _matrix(content) if isinstance(content, _CsrState) else content


def _matrix(state: Any) -> sparse.csr_matrix:
    return sparse.csr_matrix((state.data, state.indices, state.indptr), shape=state._shape)
