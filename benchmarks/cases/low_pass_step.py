"""A low-pass (LGCN) training step on the whole graph of Gowalla against the formulas as they are written."""

from __future__ import annotations

import torch

from benchmarks.graphs import gowalla
from benchmarks.measure import alternate, cpu_ms
from benchmarks.place import Place
from benchmarks.rec_training import Ours, apart, written_lgcn
from benchmarks.result import Result, compare
from fedbench.configuration.protocol import TrainingSettings
from fedbench.settings import parse

LAYERS, BATCH, FREQUENCIES, REPEATS = 2, 4096, 128, 12
TRAINING = {
    "task": "rec",
    "batch_size": BATCH,
    "learning_rate": 1e-3,
    "weight_decay": 0.0,
    "model": {
        "backbone": "lgcn",
        "layers": LAYERS,
        "width": 64,
        "dropout": 0.0,
        "embedding": {"frequencies": FREQUENCIES},
    },
}


def run(place: Place) -> list[Result]:
    torch.set_num_threads(1)  # not the suite's allocator settings, which would help both sides
    ours = Ours(gowalla(place.folder("gowalla")), parse(TrainingSettings, TRAINING, "the benchmark"))
    batch, theirs = ours.batch(), written_lgcn(ours, LAYERS)
    (loss, mine), (other_loss, others) = ours.gradients(batch), theirs.gradients(batch)
    gap = apart(mine, others)
    ours.step()
    theirs.step(batch)
    runs = alternate({"ours": lambda: cpu_ms(ours.step), "theirs": lambda: cpu_ms(lambda: theirs.step(batch))}, REPEATS)
    return compare(
        "low-pass step on Gowalla vs the formulas as written",
        runs["ours"],
        runs["theirs"],
        target=">= 3",
        unit="CPU ms",
        conditions=f"70,839 nodes, {FREQUENCIES} vectors, width 64, {LAYERS} layers, sum pooling, batch {BATCH}, Adam; "
        f"1 thread, one process, {REPEATS} steps each in turn; ours draws its batch; torch's own memory settings; "
        f"gradients differ by {gap:.0e} of the largest, losses by {abs(loss - other_loss):.0e}",
    )
