"""Settings of every test: one thread a process, since the machine's cores run several tests at once."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
