"""Check a suite before Snakemake sees it.

Snakemake says "Nothing to be done" when a table exists and one of its inputs can be made by no rule, so a misspelt
method would leave an old table standing. These checks turn it into an error that lists every fault at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from fedbench.configuration.run import RunName, resolve
from fedbench.configuration.suite import Suite, files_of_suite, runs_of_suite
from fedbench.errors import ConfigurationError, nearest
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
        ConfigurationError: lists every method without a rule file, and every data set or partition scheme without a
            configuration file; or says which file, protocol, variant or setting is wrong.
    """
    runs = runs_of_suite(suite, configs, also)
    files = files_of_suite(suite, configs)
    faults = [*_without_rule(runs, methods), *_without_file(files, configs)]
    if faults:
        raise ConfigurationError(
            f"run the suite '{name}'",
            found="; ".join(faults),
            allowed=f"methods with a rule file: {', '.join(sorted(methods))}",
            remedy=f"correct {configs}/suites/{name}.yaml or the table it names, or add the missing file",
        )
    for dataset in {dataset for dataset, _ in files}:
        load_entry(dataset, configs)
    for scheme in {parse_name(partition).scheme for _, partition in files}:
        load_scheme(scheme, configs)
    for run in {(run.protocol, run.dataset, run.method, run.variant): run for run in runs}.values():
        resolve(run, configs)


def _without_rule(runs: Iterable[RunName], methods: Iterable[str]) -> list[str]:
    asked = dict.fromkeys(run.method for run in runs)
    known = set(methods)
    return [f"method '{name}' has no rule file{nearest(name, known)}" for name in asked if name not in known]


def _without_file(files: Sequence[tuple[str, str]], configs: Path) -> list[str]:
    datasets = dict.fromkeys(dataset for dataset, _ in files)
    schemes = dict.fromkeys(parse_name(partition).scheme for _, partition in files)
    return [*_missing(datasets, configs, "datasets"), *_missing(schemes, configs, "partitions")]


def _missing(names: Iterable[str], configs: Path, kind: str) -> list[str]:
    folder = configs / kind
    known = sorted(path.stem for path in folder.glob("*.yaml"))
    return [f"no file {folder / name}.yaml{nearest(name, known)}" for name in names if name not in known]
