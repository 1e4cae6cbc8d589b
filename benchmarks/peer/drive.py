"""Drive `run_openfgl.py` in the peer's environment, and keep the graph and the partition it trained on."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measure import Usage, run_process
from benchmarks.place import ROOT, Place

INSTALL = ROOT / "benchmarks" / "peer" / "install.sh"
SCRIPT = ROOT / "benchmarks" / "peer" / "run_openfgl.py"


@dataclass(frozen=True)
class PeerRun:
    """One process of the peer: its own figures (see run_openfgl.py) and what the process cost as seen from outside."""

    figures: dict[str, Any]
    usage: Usage


@dataclass(frozen=True)
class Peer:
    """OpenFGL with one partition, cut and split once, shared by all its runs."""

    python: Path
    folder: Path

    @property
    def partition(self) -> Path:
        """The graph, memberships and splits that OpenFGL trains on (npz; see `run_openfgl.export`)."""
        return self.folder / "cora-10.npz"

    def run(self, method: str, seed: int, rounds: int = 100) -> PeerRun:
        """Train once, in a process of its own."""
        out = self.folder / f"{method}-{seed}.json"
        usage = run_process([*self._command(method, seed, rounds), "--out", out])
        return PeerRun(json.loads(out.read_text(encoding="utf-8")), usage)

    def prepare(self) -> None:
        """Cut the graph and split the nodes, unless that was done before."""
        if not self.partition.exists():
            run_process(
                [*self._command("fedavg", 0, 0), "--out", self.folder / "prepare.json", "--export", self.partition]
            )

    def _command(self, method: str, seed: int, rounds: int) -> list[str | Path]:
        options = ["--method", method, "--seed", str(seed), "--rounds", str(rounds)]
        return [self.python, "-W", "ignore", SCRIPT, *options, "--folder", self.folder]


def installed(place: Place) -> Peer:
    """Install the peer if need be, prepare its data, and return it."""
    subprocess.run(["bash", INSTALL], check=True)
    peer = Peer(place.peer_python, place.folder("openfgl"))
    peer.prepare()
    return peer
