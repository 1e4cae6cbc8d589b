# What was asked for, checked before any rule is read; and the functions that rules use for inputs and parameters.
from pathlib import Path

from snakemake.exceptions import WorkflowError

from fedbench.configuration.protocol import load_protocol
from fedbench.configuration.run import RunName, resolve
from fedbench.configuration.suite import FigureChoice, load_suite, table_in_suite
from fedbench.configuration.table import load_table
from fedbench.errors import FedbenchError
from fedbench.figures import figure_names
from fedbench.partition.name import parse_name
from fedbench.partition.scheme import load_scheme
from fedbench.planning.check import check_suite
from fedbench.planning.figures import figure_text
from fedbench.planning.jobs import Job, jobs_of_table
from fedbench.planning.selection import selected
from fedbench.planning.stage import stage_digest
from fedbench.provenance.code import code_digest, program_digest
from fedbench.records.pack import HEADERS
from fedbench.records.reuse import reusable
from fedbench.settings import digest_of
from fedbench.sources.catalogue import load_entry

METHOD_FILES = sorted(
    Path(str(workflow.current_basedir), "../methods").resolve().glob("*.smk")
)

try:
    SELECTION = selected(config)
    METHOD_FILES += [path.absolute() for path in SELECTION.rules]
    SUITE = load_suite(SELECTION.suite, SELECTION.configs)
    check_suite(
        SELECTION.suite,
        SUITE,
        SELECTION.configs,
        methods=[path.stem for path in METHOD_FILES],
        also=SELECTION.also,
    )
    PACKED = reusable(SELECTION.bundle, SELECTION.configs)
except FedbenchError as error:
    raise WorkflowError(str(error)) from None

BUNDLE_FILES = [f"{SELECTION.bundle}/{HEADERS}"] if SELECTION.bundle else []
MAIN_TABLE = next(iter(SUITE.tables))
# Figures drawn where a suite names none: those that ask no more of a table than records or partitions.
PLAIN_FIGURES = [
    FigureChoice(name=name)
    for name in figure_names()
    if figure_text(name)["NEEDS"] in ("records", "partitions")
]
FIGURES = {
    choice.stem: choice
    for choice in (PLAIN_FIGURES if SUITE.figures is None else SUITE.figures)
}


pathvars:
    suite=SELECTION.suite,
    logs="<results>/logs",
    benchmarks="<results>/benchmarks",


wildcard_constraints:
    protocol=r"[\w-]+",
    dataset=r"[\w-]+",
    partition=r"[\w-]+",
    variant=r"[\w.-]+",
    block=r"\d+-\d+",
    table=r"[\w-]+",
    figure=r"[\w-]+",


def paths_of(jobs):
    """Paths of the records that jobs make, without those that a bundle has."""
    return [f"<results>/records/{job.record}" for job in jobs if job.name not in PACKED]


def records_of(table):
    """Paths of the records that fill a table of the suite."""
    return paths_of(jobs_of_table(table, SUITE, SELECTION.configs, SELECTION.also))


def plain_records_of(table):
    """Paths of the records of a table's columns: figures leave out the other seeds of a partition."""
    runs = dict.fromkeys(table_of(table).runs())
    blocks = SUITE.blocks_of(table)
    return paths_of(Job(run=run, block=block) for run in runs for block in blocks)


def sources_of(table):
    """What a table is made from - the records that fill it, or the data that its readings describe."""
    if table_of(table).readings:
        return {
            "partitions": partitions_of(table),
            "datasets": dataset_files_of(table),
        }
    return {"records": records_of(table), "bundle": BUNDLE_FILES}


def inputs_of_table(wildcards):
    """What the table of a rule's wildcards is made from."""
    return sources_of(wildcards.table)


def sources_of_tables():
    """What all tables of the suite are made from, each file once."""
    paths = {
        path
        for table in SUITE.tables
        for kind in sources_of(table).values()
        for path in kind
    }
    return sorted(paths)


def options_of_records(wildcards, input):
    """The options that name a folder of records (six levels above one, or beside the folder `partitions`) and a bundle."""
    options = []
    if input.get("records"):
        options.append(f"--records {Path(input.records[0]).parents[5]}")
    elif input.get("partitions"):
        options.append(f"--records {Path(input.partitions[0]).parents[2] / 'records'}")
    if input.get("bundle"):
        options.append(f"--bundle {SELECTION.bundle}")
    return " ".join(options)


def settings_of_table(wildcards):
    """Digest of a table's layout: a change rebuilds the table and trains nothing."""
    table = table_in_suite(wildcards.table, SUITE, SELECTION.configs, SELECTION.also)
    return digest_of(table.model_dump(mode="json"))


def settings_of_dataset(wildcards):
    """Digest of a data set's catalogue entry."""
    entry = load_entry(wildcards.dataset, SELECTION.configs)
    return digest_of(entry.model_dump(mode="json"))


def settings_of_partition(wildcards):
    """Digest of a partition scheme's settings."""
    scheme = load_scheme(parse_name(wildcards.partition).scheme, SELECTION.configs)
    return digest_of(scheme.model_dump(mode="json"))


def run_of(method):
    """Parameters of a method's training rule.

    Both digests are functions of the wildcards alone: Snakemake doesn't compare parameters derived from outputs.
    """

    def settings(wildcards):
        """Digest of the run's resolved settings: a change makes this run stale and no other."""
        fields = {
            name: wildcards[name]
            for name in ("protocol", "dataset", "partition", "variant")
        }
        run = RunName(method=method, **fields)
        return digest_of(resolve(run, SELECTION.configs).model_dump(mode="json"))

    def code(wildcards):
        """Digest of the code that the method uses: a change makes the method's runs stale and no others."""
        task = load_protocol(wildcards.protocol, SELECTION.configs).training.task
        return code_digest(method, task)

    return {"method": method, "settings": settings, "code": code}


def memory(wildcards, attempt):
    """Megabytes of a training job; more at each retry."""
    return 3000 * attempt
