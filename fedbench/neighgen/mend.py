"""`mend`: every client's graph with generated neighbours, made one client at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from fedbench.neighgen.append import append
from fedbench.neighgen.client import ClientResult, mend_client
from fedbench.neighgen.federation import federation
from fedbench.neighgen.scale import SCALES
from fedbench.neighgen.settings import NeighGenSettings
from fedbench.tasks.node.arrays import ClientGraph

CHUNK = 256


@dataclass(frozen=True)
class Mended:
    """Mended graphs and what they cost.

    ``bytes_up``, ``bytes_down``: sent and received by clients in the federated phase (`exchange`), the same number,
    since every message has one sender and one receiver. ``diagnostics``: lists by client, ``hidden`` and ``generated``
    nodes, ``local`` and ``federated`` weighted losses by epoch; and ``bytes`` by what the messages carry.
    """

    graphs: list[ClientGraph]
    bytes_up: int
    bytes_down: int
    diagnostics: dict[str, Any]


def mend(
    graphs: Sequence[ClientGraph],
    width: int,
    classes: int,
    settings: NeighGenSettings,
    seed: int,
    dtype: torch.dtype,
    device: torch.device,
    *,
    chunk: int = CHUNK,
) -> Mended:
    """Train every client's NeighGen and return the mended graphs (Zhang et al. 2021, section 4).

    Clients learn from one another through the gradient of their features' distances only, and features don't change, so
    a client can go through both phases before the next one starts; only one generator is in memory at a time.

    Args:
        graphs: of the clients.
        width: feature width.
        classes: number of classes.
        settings: of NeighGen.
        seed: run seed; every client draws from streams of its own.
        dtype: of all parameters.
        device: where they live.
        chunk: generated neighbours searched at once; changes memory and speed, not the result.

    Raises:
        TrainingError: a loss is not finite.
    """
    seen, scales = zip(*(SCALES[settings.row_scale](graph) for graph in graphs), strict=True)
    all_clients = federation(seen, width, classes, settings, seed, dtype, device, chunk)
    results = [mend_client(all_clients, client) for client in range(len(graphs))]
    mended = [
        append(graph, client, result.owners, result.generated * scale)
        for client, (graph, result, scale) in enumerate(zip(graphs, results, scales, strict=True))
    ]
    return _gather(mended, results)


def _gather(mended: list[ClientGraph], results: Sequence[ClientResult]) -> Mended:
    sent = {what: sum(result.sent[what] for result in results) for what in results[0].sent}
    by_client = {what: [result.diagnostics[what] for result in results] for what in results[0].diagnostics}
    total = sum(sent.values())
    return Mended(mended, total, total, by_client | {"bytes": sent})
