# Tables as CSV (one row a cell), LaTeX and Markdown, each cell beside the published one; and as pages of the report.


rule table:
    input:
        unpack(inputs_of_table),
    output:
        csv=report(
            "<reports>/<suite>/tables/{table}.csv",
            category=paper_of_table,
            subcategory=datasets_of_table,
            labels={"what": "{table}", "as": "CSV"},
            caption="../report/table.rst",
        ),
        tex="<reports>/<suite>/tables/{table}.tex",
        md="<reports>/<suite>/tables/{table}.md",
    log:
        "<logs>/table/<suite>/{table}.log",
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        configs=SELECTION.configs,
        code=stage_digest("table"),
        records=options_of_records,
        out=subpath(output.csv, parent=True),
        suite=SELECTION.suite,
        layout=settings_of_table,
        caption=caption_of_table,
        also=",".join(SELECTION.also),
    message:
        "table {wildcards.table}"
    shell:
        "fedbench table {wildcards.table} --suite {params.suite} --also '{params.also}' --configs {params.configs}"
        " {params.records} --out {params.out} > {log} 2>&1"


rule table_page:
    input:
        md="<reports>/<suite>/tables/{table}.md",
    output:
        html=report(
            "<reports>/<suite>/pages/{table}.html",
            category=paper_of_table,
            subcategory=datasets_of_table,
            labels={"what": "{table}", "as": "table"},
            caption="../report/table.rst",
        ),
    log:
        "<logs>/table_page/<suite>/{table}.log",
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=5,
    params:
        caption=caption_of_table,
    message:
        "page of table {wildcards.table}"
    script:
        "../scripts/page.py"
