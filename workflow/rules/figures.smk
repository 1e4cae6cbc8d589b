# Figures of a suite's tables, as PDF (for papers) and PNG (for the report).


rule figure:
    input:
        records=records_of_figure,
        partitions=partitions_of_figure,
        bundle=BUNDLE_FILES,
    output:
        png=report(
            "<reports>/<suite>/figures/{figure}.png",
            category=paper_of_figure,
            subcategory=datasets_of_figure,
            labels={"what": "{figure}", "as": "figure"},
            caption="../report/figure.rst",
        ),
        pdf=report(
            "<reports>/<suite>/figures/{figure}.pdf",
            category=paper_of_figure,
            subcategory=datasets_of_figure,
            labels={"what": "{figure}", "as": "PDF"},
            caption="../report/figure.rst",
        ),
    log:
        "<logs>/figure/<suite>/{figure}.log",
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        configs=SELECTION.configs,
        code=stage_digest("figure"),
        drawing=drawing_of_figure,
        caption=caption_of_figure,
        records=options_of_records,
        out=subpath(output.png, parent=True),
        suite=SELECTION.suite,
        name=module_of_figure,
        table=table_option_of_figure,
        rows=rows_option_of_figure,
        also=",".join(SELECTION.also),
    message:
        "figure {wildcards.figure}"
    shell:
        "fedbench figure {params.name} {params.table} {params.rows} --suite {params.suite} --also '{params.also}' --configs {params.configs}"
        " {params.records} --out {params.out} > {log} 2>&1"
