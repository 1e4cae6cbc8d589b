# Raw files into one safe array file with a canonical node order.


rule dataset:
    input:
        source="<results>/raw/{dataset}/source.json",
    output:
        arrays="<results>/datasets/{dataset}.npz",
        origin="<results>/datasets/{dataset}.origin.npz",
    log:
        "<logs>/dataset/{dataset}.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=6000,
        runtime=30,
    params:
        configs=SELECTION.configs,
        code=stage_digest("dataset"),
        raw=subpath(input.source, parent=True),
        entry=settings_of_dataset,
    message:
        "data set {wildcards.dataset}"
    shell:
        "fedbench dataset {wildcards.dataset} --configs {params.configs} --raw {params.raw} --out {output.arrays} > {log} 2>&1"
