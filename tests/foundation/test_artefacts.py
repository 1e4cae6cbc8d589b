"""A file of ours is read as what it is: its arrays, its task."""

import numpy as np
import pytest

from fedbench.artefacts import read_artefact
from fedbench.errors import DataError
from fedbench.files import write_arrays


@pytest.fixture
def file(tmp_path):
    write_arrays(tmp_path / "a.npz", {"client": np.arange(2), "graph": np.arange(2)}, {"task": "graph"})
    return tmp_path / "a.npz"


def test_it_returns_the_arrays_and_the_description(file):
    arrays, meta = read_artefact(file, ("client", "graph"), kind="partition", task="graph")
    assert (sorted(arrays), meta) == (["client", "graph"], {"task": "graph"})


@pytest.mark.parametrize(("names", "task"), [(("client", "graph"), "rec"), (("client",), "graph")])
def test_another_task_or_other_arrays_are_an_error_that_names_the_command(file, names, task):
    with pytest.raises(DataError, match="fedbench partition"):
        read_artefact(file, names, kind="partition", task=task)
