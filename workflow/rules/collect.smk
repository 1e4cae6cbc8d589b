# Targets that only collect.


localrules:
    all,
    tables,
    figures,
    partitions,
    partition_reports,


# Asks for what tables are made from, too: a committed table is there without its records, and Snakemake makes nothing
# for an output that is there.
rule tables:
    input:
        expand("<reports>/<suite>/tables/{table}.csv", table=SUITE.tables),
        sources_of_tables(),


rule figures:
    input:
        expand("<reports>/<suite>/figures/{figure}.png", figure=FIGURES),


rule partitions:
    input:
        partitions_of_suite(),


rule partition_reports:
    input:
        reports_of_partitions(),


rule all:
    default_target: True
    input:
        rules.tables.input,
        rules.figures.input,
        rules.partition_reports.input,
        expand("<reports>/<suite>/pages/{table}.html", table=SUITE.tables),
