"""`python -m benchmarks.run [names]`: run all benchmarks, or the named ones, and write `reports/benchmarks.csv`."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from pathlib import Path

from benchmarks import cases
from benchmarks.place import Place
from benchmarks.result import COLUMNS, Result, read, write


def names() -> list[str]:
    """Return the names of all benchmarks."""
    return sorted(module.name for module in pkgutil.iter_modules(cases.__path__))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"one or more of: {', '.join(names())}")
    parser.add_argument("--out", type=Path, default=Path("reports/benchmarks.csv"))
    parser.add_argument("--scratch", type=Path, default=Path("results/benchmarks"), help="kept between runs")
    return parser.parse_args()


def chosen(wanted: list[str]) -> list[str]:
    """Return the benchmarks to run; an unknown name ends the program and lists the known ones."""
    unknown = sorted(set(wanted) - set(names()))
    if unknown:
        sys.exit(f"no benchmark named {', '.join(unknown)}; there are: {', '.join(names())}")
    return wanted or names()


def measure(name: str, place: Place) -> list[Result]:
    """Run one benchmark and print its rows."""
    print(f"-- {name}", flush=True)
    results: list[Result] = importlib.import_module(f"benchmarks.cases.{name}").run(place)
    for result in results:
        print("   " + " | ".join(result.row()[column] for column in COLUMNS), flush=True)
    return results


def main() -> None:
    options = parse()
    place = Place(options.scratch.resolve(), options.out.resolve().parent / "benchmarks")
    for name in chosen(options.names):
        write(options.out, measure(name, place), keep=read(options.out))


if __name__ == "__main__":
    main()
