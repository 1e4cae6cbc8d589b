"""A LightGCN training step on the whole graph of Gowalla against PyG's LightGCN, same tables, batches and gradients."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from benchmarks.graphs import gowalla
from benchmarks.measure import alternate, cpu_ms
from benchmarks.place import Place
from benchmarks.rec_training import Ours, Theirs, apart, as_csr, joint_adjacency, pyg_light_gcn
from benchmarks.result import Result, compare
from fedbench.configuration.protocol import TrainingSettings
from fedbench.settings import parse

LAYERS, BATCH, REPEATS, EDGE_REPEATS = 3, 2048, 12, 4
TRAINING = {
    "task": "rec",
    "batch_size": BATCH,
    "learning_rate": 1e-3,
    "weight_decay": 0.0,
    "model": {"backbone": "lightgcn", "layers": LAYERS, "width": 64, "dropout": 0.0},
}
FORMS = {"sparse CSR": (REPEATS, ">= 5.5"), "edge index": (EDGE_REPEATS, ">= 35")}


def run(place: Place) -> list[Result]:
    torch.set_num_threads(1)  # not the suite's allocator settings, which would help both sides
    ours = Ours(gowalla(place.folder("gowalla")), parse(TrainingSettings, TRAINING, "the benchmark"))
    edges, weights = joint_adjacency(ours.block)
    nodes = sum(table.shape[1] for table in ours.start.values())
    adjacency = {"sparse CSR": (as_csr(edges, weights, nodes), None), "edge index": (edges, weights)}
    return [row for form in FORMS for row in against(form, ours, pyg_light_gcn(ours, LAYERS, adjacency[form]))]


def against(form: str, ours: Ours, theirs: Theirs) -> Sequence[Result]:
    repeats, target = FORMS[form]
    fresh = Ours(ours.files, ours.training)  # both start from the same tables
    batch = fresh.batch()
    (loss, mine), (other_loss, others) = fresh.gradients(batch), theirs.gradients(batch)
    gap = apart(mine, others)
    fresh.step()  # builds what is built once
    theirs.step(batch)
    runs = alternate(
        {"ours": lambda: cpu_ms(fresh.step), "theirs": lambda: cpu_ms(lambda: theirs.step(batch))}, repeats
    )
    return compare(
        f"LightGCN step on Gowalla vs PyG, {form}",
        runs["ours"],
        runs["theirs"],
        target=target,
        unit="CPU ms",
        conditions=f"width 64, {LAYERS} layers, batch {BATCH}, Adam, 1 thread, {repeats} steps each in turn; "
        "ours draws its batch, PyG's is given, and so is its normalised adjacency; torch's own memory settings; "
        f"gradients differ by {gap:.0e} of the largest, losses by {abs(loss - other_loss):.0e}",
    )
