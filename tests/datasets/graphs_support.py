"""Small graphs as the text files of TUDataset."""

from pathlib import Path

from fedbench.sources.formats import TuFiles

# Three graphs of 3, 1 and 2 nodes, labelled 7, -1, 7. A self-loop, an edge listed twice, one in one direction only.
FILES = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n2, 3\n3, 3\n5, 6\n",
    "graph_indicator": "1\n1\n1\n2\n3\n3\n",
    "graph_labels": "7\n-1\n7\n",
    "node_labels": "4\n2\n2\n5\n2\n4\n",
    "node_attributes": "0.5, -1\n0, 0\n1e-3, 2\n1, 1\n3, 0\n-0.25, 4\n",
}
EDGES = [[0, 1, 1, 2, 4, 5], [1, 0, 2, 1, 5, 4]]


def write_tu(folder: Path, **changed: str) -> Path:
    folder.mkdir(exist_ok=True)
    for part, text in (FILES | changed).items():
        (folder / f"T_{part}.txt").write_text(text)
    return folder


def tu_files(nodes: str | None = None) -> TuFiles:
    return TuFiles(format="tu", prefix="T", nodes=nodes)
