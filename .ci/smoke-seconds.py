"""Print the CPU seconds that the smoke suite's jobs took, by task; exit 1 if one with a limit took more."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

MOST = {"graph": 90.0, "rec": 90.0}


def main(records: Path) -> int:
    """Sum start and training of every job whose record lies below ``records``."""
    seconds: Counter[str] = Counter()
    for path in records.rglob("seeds-*.json"):
        header = json.loads(path.read_text(encoding="utf-8"))
        seconds[header["task"]] += header["startup_seconds"] + sum(cost["total_seconds"] for cost in header["costs"])
    print(", ".join(f"{task} {taken:.0f} s" for task, taken in sorted(seconds.items())))
    return int(any(not 0 < seconds[task] <= most for task, most in MOST.items()))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
