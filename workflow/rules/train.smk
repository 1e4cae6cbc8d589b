# One block of seeds of one cell. Files in workflow/methods inherit this rule, one a method; it makes nothing itself.
# Finished seeds wait in `state`, which is no output, because Snakemake deletes the outputs of a job that failed.


rule train:
    input:
        dataset="<results>/datasets/{dataset}.npz",
        partition="<results>/partitions/{dataset}/{partition}.npz",
    output:
        record="<results>/records/{protocol}/{dataset}/{partition}/<method>/{variant}/seeds-{block}.parquet",
        header="<results>/records/{protocol}/{dataset}/{partition}/<method>/{variant}/seeds-{block}.json",
    log:
        "<logs>/train/{protocol}/{dataset}/{partition}/<method>/{variant}/seeds-{block}.log",
    benchmark:
        "<benchmarks>/train/{protocol}/{dataset}/{partition}/<method>/{variant}/seeds-{block}.tsv"
    pathvars:
        method="none",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory,
        runtime=240,
        gpu=1 if SELECTION.device == "cuda" else 0,
    params:
        configs=SELECTION.configs,
        device=SELECTION.device,
        results=subpath(output.record, ancestor=7),
    message:
        "train {params.method}/{wildcards.variant} on {wildcards.dataset}/{wildcards.partition}, seeds {wildcards.block}; progress in {log}"
    shell:
        "fedbench train {params.method} --variant {wildcards.variant} --protocol {wildcards.protocol}"
        " --dataset {wildcards.dataset} --partition {wildcards.partition} --seeds {wildcards.block}"
        " --dataset-file {input.dataset} --partition-file {input.partition} --configs {params.configs}"
        " --device {params.device} --state {params.results}/state --out {output.record} > {log} 2>&1"
