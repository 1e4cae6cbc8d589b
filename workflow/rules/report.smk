# How the report groups and describes results.


def table_of(name):
    """A table as this suite builds it."""
    return table_in_suite(name, SUITE, SELECTION.configs, SELECTION.also)


def paper_of(table):
    """The paper that a table belongs to: the one whose figures it, or a table of the same prefix, sets beside its own."""
    prefix = table.split("-")[0]
    tables = [
        table_of(name) for name in (table, *SUITE.tables) if name.startswith(prefix)
    ]
    papers = [each.published.paper for each in tables if each.published]
    return papers[0] if papers else prefix


def datasets_of(table):
    """The data sets of a table, as one heading."""
    return ", ".join(table_of(table).datasets)


def paper_of_table(wildcards):
    return paper_of(wildcards.table)


def datasets_of_table(wildcards):
    return datasets_of(wildcards.table)


def caption_of_table(wildcards):
    return table_of(wildcards.table).caption.strip()


def caption_of_figure(wildcards):
    return figure_text(wildcards.figure)["CAPTION"]


def drawing_of_figure(wildcards):
    """Digest of one figure's module, which is imported by name, and of the table drawn."""
    code = program_digest(f"fedbench.figures.{wildcards.figure.replace('-', '_')}")
    return digest_of([code, table_of(MAIN_TABLE).model_dump(mode="json")])


def partitions_of(table):
    """Partition files of a table."""
    pairs = [(run.dataset, run.partition) for run in table_of(table).runs()]
    return [f"<results>/partitions/{d}/{p}.npz" for d, p in dict.fromkeys(pairs)]


def partitions_of_suite():
    """Partition files of all tables."""
    return list(
        dict.fromkeys(path for name in SUITE.tables for path in partitions_of(name))
    )


def reports_of_partitions():
    """Descriptions of all partitions of the suite, as pages and CSV."""
    names = [Path(path).with_suffix("").parts[-2:] for path in partitions_of_suite()]
    pages = [f"<reports>/<suite>/pages/{d}/{p}.html" for d, p in names]
    return pages + [f"<reports>/<suite>/partitions/{d}/{p}.csv" for d, p in names]
