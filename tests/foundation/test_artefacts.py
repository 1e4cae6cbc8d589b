"""A file of ours is read as what it is: its arrays, its task."""

from dataclasses import dataclass

import numpy as np
import pytest

from fedbench.artefacts import PartitionArtefact
from fedbench.errors import DataError
from fedbench.files import sha256_of, write_arrays


@dataclass(frozen=True)
class Cut(PartitionArtefact):
    """A toy."""

    TASK = "graph"

    graph: np.ndarray
    client: np.ndarray


META = {"task": "graph", "clients": 2}


def test_what_is_written_is_read_again(tmp_path):
    cut, path = Cut(np.arange(3), np.array([0, 1, 1]), meta=META), tmp_path / "a.npz"
    cut.write(path)
    read = Cut.read(path)
    assert (read.graph.tolist(), read.client.tolist(), read.meta, read.clients) == ([0, 1, 2], [0, 1, 1], META, 2)
    assert (cut.digest, read.digest) == ("", sha256_of(path))


def test_arrays_lie_in_the_order_of_the_fields(tmp_path):
    Cut(np.arange(2), np.arange(2), meta=META).write(tmp_path / "a.npz")
    write_arrays(tmp_path / "b.npz", {"graph": np.arange(2), "client": np.arange(2)}, META)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@pytest.mark.parametrize(
    ("arrays", "meta"),
    [
        (("client", "graph"), {"task": "rec"}),
        (("client",), META),
        (("client", "graph", "item"), META),
        (("client", "graph"), {}),
    ],
)
def test_another_task_or_other_arrays_are_an_error_that_names_the_command(tmp_path, arrays, meta):
    write_arrays(tmp_path / "a.npz", {name: np.arange(2) for name in arrays}, meta)
    with pytest.raises(DataError, match="fedbench partition"):
        Cut.read(tmp_path / "a.npz")
