"""Check a suite before Snakemake sees it.

Snakemake says "Nothing to be done" when a table exists and one of its inputs can be made by no rule, so a misspelt
method would leave an old table standing. These checks turn it into an error that lists every fault at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from fedbench.configuration.method import load_method_file
from fedbench.configuration.protocol import load_protocol
from fedbench.configuration.run import RunName, resolve
from fedbench.configuration.suite import (
    FigureChoice,
    Suite,
    files_of_suite,
    row_named,
    rows_only,
    runs_of_suite,
    table_in_suite,
)
from fedbench.errors import ConfigurationError, nearest
from fedbench.figures import figure_names
from fedbench.partition.name import parse_name
from fedbench.partition.scheme import load_scheme
from fedbench.sources.catalogue import load_entry


def check_suite(name: str, suite: Suite, configs: Path, methods: Iterable[str], also: Iterable[str] = ()) -> None:
    """Check that everything a suite names exists.

    Args:
        name: the suite's name, for the message.
        suite: the suite.
        configs: folder of the configuration files.
        methods: names of the methods that have a rule file.
        also: methods appended to every table.

    Raises:
        ConfigurationError: lists every method without a rule file or for another task, every data set or partition
            scheme without a configuration file, and every figure without a module; or says which file, protocol,
            variant, row or setting is wrong.
    """
    runs = runs_of_suite(suite, configs, also)
    files = files_of_suite(suite, configs)
    faults = [
        *_without_rule(runs, methods),
        *_without_file(files, configs),
        *_misspelt(suite, configs),
        *_without_module(suite.figures or ()),
        *_of_another_task(runs, configs),
        *_in_no_table(suite, configs, also),
    ]
    if faults:
        raise ConfigurationError(
            f"run the suite '{name}'",
            found="; ".join(faults),
            allowed=f"methods with a rule file: {', '.join(sorted(methods))}; figures: {', '.join(figure_names())}",
            remedy=f"correct {configs}/suites/{name}.yaml or the table it names, or add the missing file",
        )
    for dataset in {dataset for dataset, _ in files}:
        load_entry(dataset, configs)
    for scheme in {parse_name(partition).scheme for _, partition in files}:
        load_scheme(scheme, configs)
    for run in {(run.protocol, run.dataset, run.method, run.variant): run for run in runs}.values():
        resolve(run, configs)
    for choice in suite.figures or ():
        table = choice.table or next(iter(suite.tables))
        rows_only(table_in_suite(table, suite, configs, also), choice.only)


def _without_rule(runs: Iterable[RunName], methods: Iterable[str]) -> list[str]:
    asked = dict.fromkeys(run.method for run in runs)
    known = set(methods)
    return [f"method '{name}' has no rule file{nearest(name, known)}" for name in asked if name not in known]


def _of_another_task(runs: Iterable[RunName], configs: Path) -> list[str]:
    asked = dict.fromkeys((run.method, run.protocol) for run in runs)
    pairs = [(method, load_protocol(name, configs).training.task, name) for method, name in asked]
    tasks = {method: load_method_file(method, configs).tasks for method, _, _ in pairs}
    return [
        f"method '{method}' is for the task {' or '.join(tasks[method])}, protocol '{name}' for the task {task}"
        for method, task, name in pairs
        if task not in tasks[method]
    ]


def _in_no_table(suite: Suite, configs: Path, also: Iterable[str]) -> list[str]:
    """Return the methods to append that no table takes: all are for other tasks."""
    if not also:
        return []
    taken = {row.name for name in suite.tables for row in table_in_suite(name, suite, configs, also).rows}
    return [f"no table for '{name}' of `also`" for name in also if row_named(name).name not in taken]


def _without_file(files: Sequence[tuple[str, str]], configs: Path) -> list[str]:
    datasets = dict.fromkeys(dataset for dataset, _ in files)
    schemes = dict.fromkeys(parse_name(partition).scheme for _, partition in files)
    return [*_missing(datasets, configs, "datasets"), *_missing(schemes, configs, "partitions")]


def _misspelt(suite: Suite, configs: Path) -> list[str]:
    """Return the keys that single out a data set which there is not: nothing else would ever read them."""
    tables = {name: table_in_suite(name, suite, configs) for name in suite.tables}
    keys: dict[str, Iterable[str]] = {}
    for name, table in tables.items():
        keys[f"`partition_of` of table '{name}'"] = table.partition_of
        keys |= {f"row {row.name} of table '{name}'": row.by_dataset for row in table.rows}
    protocols = dict.fromkeys(table.protocol for table in tables.values() if table.protocol)
    keys |= {f"`datasets` of protocol '{name}'": load_protocol(name, configs).datasets for name in protocols}
    return [f"{where}: {text}" for where, names in keys.items() for text in _missing(names, configs, "datasets")]


def _without_module(figures: Iterable[FigureChoice]) -> list[str]:
    known = figure_names()
    asked = dict.fromkeys(choice.name for choice in figures)
    return [f"no figure '{name}'{nearest(name, known)}" for name in asked if name not in known]


def _missing(names: Iterable[str], configs: Path, kind: str) -> list[str]:
    folder = configs / kind
    known = sorted(path.stem for path in folder.glob("*.yaml"))
    return [f"no file {folder / name}.yaml{nearest(name, known)}" for name in names if name not in known]
