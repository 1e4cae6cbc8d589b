# Raw files, unchanged, from the first source that answers; checked by sha256 before anything opens them.


rule fetch:
    output:
        source="<results>/raw/{dataset}/source.json",
    log:
        "<logs>/fetch/{dataset}.log",
    retries: 3
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=60,
    params:
        configs=SELECTION.configs,
        out=subpath(output.source, parent=True),
        entry=settings_of_dataset,
    message:
        "fetch {wildcards.dataset}"
    shell:
        "fedbench fetch {wildcards.dataset} --configs {params.configs} --out {params.out} > {log} 2>&1"
