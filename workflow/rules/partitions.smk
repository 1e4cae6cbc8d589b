# Which node belongs to which client, and in which split; and what the cut is like, client by client.


rule partition:
    input:
        dataset="<results>/datasets/{dataset}.npz",
    output:
        arrays="<results>/partitions/{dataset}/{partition}.npz",
    log:
        "<logs>/partition/{dataset}/{partition}.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        configs=SELECTION.configs,
        code=stage_digest("partition"),
        scheme=settings_of_partition,
    message:
        "partition {wildcards.dataset}/{wildcards.partition}"
    shell:
        "fedbench partition {wildcards.dataset} {wildcards.partition} --configs {params.configs}"
        " --dataset-file {input.dataset} --out {output.arrays} > {log} 2>&1"


rule partition_report:
    input:
        dataset="<results>/datasets/{dataset}.npz",
        partition="<results>/partitions/{dataset}/{partition}.npz",
    output:
        csv=report(
            "<reports>/<suite>/partitions/{dataset}/{partition}.csv",
            category="Partitions",
            subcategory="{dataset}",
            labels={"what": "{partition}", "as": "CSV"},
            caption="../report/partition.rst",
        ),
        md="<reports>/<suite>/partitions/{dataset}/{partition}.md",
    log:
        "<logs>/partition_report/<suite>/{dataset}/{partition}.log",
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        code=stage_digest("partition_report"),
    message:
        "describe {wildcards.dataset}/{wildcards.partition}"
    shell:
        "fedbench partition-report {input.partition} --dataset-file {input.dataset}"
        " --csv {output.csv} --markdown {output.md} > {log} 2>&1"


rule partition_page:
    input:
        md="<reports>/<suite>/partitions/{dataset}/{partition}.md",
    output:
        html=report(
            "<reports>/<suite>/pages/{dataset}/{partition}.html",
            category="Partitions",
            subcategory="{dataset}",
            labels={"what": "{partition}", "as": "table"},
            caption="../report/partition.rst",
        ),
    log:
        "<logs>/partition_page/<suite>/{dataset}/{partition}.log",
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=5,
    message:
        "page of partition {wildcards.dataset}/{wildcards.partition}"
    script:
        "../scripts/page.py"
