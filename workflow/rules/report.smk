# How the report groups and describes results.


def table_of(name):
    """A table as this suite builds it."""
    return table_in_suite(name, SUITE, SELECTION.configs, SELECTION.also)


def paper_of(table):
    """The paper that a table belongs to: the one whose figures it, or another table of its prefix, sets beside its own."""
    prefix = table.split("-")[0]
    others = sorted((SELECTION.configs / "tables").glob(f"{prefix}-*.yaml"))
    tables = [
        load_table(name, SELECTION.configs)
        for name in (table, *(path.stem for path in others))
    ]
    papers = [source.paper for each in tables for source in each.published]
    return papers[0] if papers else "No paper's own"


def datasets_of(table):
    """The data sets of a table, as one heading."""
    return ", ".join(table_of(table).datasets)


def paper_of_table(wildcards):
    return paper_of(wildcards.table)


def datasets_of_table(wildcards):
    return datasets_of(wildcards.table)


def caption_of_table(wildcards):
    return table_of(wildcards.table).caption.strip()


def table_of_figure(wildcards):
    """The table that a figure is drawn from."""
    return FIGURES[wildcards.figure].table or MAIN_TABLE


def paper_of_figure(wildcards):
    return paper_of(table_of_figure(wildcards))


def datasets_of_figure(wildcards):
    return datasets_of(table_of_figure(wildcards))


def records_of_figure(wildcards):
    return plain_records_of(table_of_figure(wildcards))


def partitions_of_figure(wildcards):
    return plain_partitions_of(table_of_figure(wildcards))


def module_of_figure(wildcards):
    """The figure's name on the command line."""
    return FIGURES[wildcards.figure].name


def table_option_of_figure(wildcards):
    """The option that names the table, where the suite names one."""
    table = FIGURES[wildcards.figure].table
    return f"--table {table}" if table else ""


def rows_option_of_figure(wildcards):
    """The option that names the rows drawn, where the suite names some."""
    only = FIGURES[wildcards.figure].only
    return f"--only {','.join(only)}" if only else ""


def caption_of_figure(wildcards):
    return figure_text(module_of_figure(wildcards))["CAPTION"]


def drawing_of_figure(wildcards):
    """Digest of one figure's module, which is imported by name, and of the table and rows drawn."""
    name = module_of_figure(wildcards).replace("-", "_")
    table = table_of(table_of_figure(wildcards)).model_dump(mode="json")
    only = FIGURES[wildcards.figure].only
    return digest_of([program_digest(f"fedbench.figures.{name}"), table, only])


def files_of(pairs):
    """Partition files of (data set, partition) pairs."""
    return [f"<results>/partitions/{d}/{p}.npz" for d, p in dict.fromkeys(pairs)]


def partitions_of(table):
    """Partition files of a table, those of the other seeds included."""
    return files_of(table_of(table).files())


def plain_partitions_of(table):
    """Partition files of a table's columns."""
    return files_of(table_of(table).columns)


def dataset_files_of(table):
    """Data set files of a table."""
    return [f"<results>/datasets/{name}.npz" for name in table_of(table).datasets]


def partitions_of_suite():
    """Partition files of all tables."""
    return list(
        dict.fromkeys(path for name in SUITE.tables for path in partitions_of(name))
    )


def reports_of_partitions():
    """Descriptions of the partitions that are columns of the suite's tables, as pages and CSV."""
    paths = dict.fromkeys(
        path for name in SUITE.tables for path in plain_partitions_of(name)
    )
    names = [Path(path).with_suffix("").parts[-2:] for path in paths]
    pages = [f"<reports>/<suite>/pages/{d}/{p}.html" for d, p in names]
    return pages + [f"<reports>/<suite>/partitions/{d}/{p}.csv" for d, p in names]
