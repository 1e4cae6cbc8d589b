# A method outside fedbench as one rule; the file has the method's name. Try it with
#   snakemake reports/smoke/tables/fedaux-table1.csv --cores 2 --config suite=smoke rules=examples/nearest_centroid/centroid.smk also=centroid


rule train_centroid:
    input:
        dataset="<results>/datasets/{dataset}.npz",
        partition="<results>/partitions/{dataset}/{partition}.npz",
        program="examples/nearest_centroid/classify.py",
    output:
        record="<results>/records/{protocol}/{dataset}/{partition}/centroid/{variant}/seeds-{block}.parquet",
        header="<results>/records/{protocol}/{dataset}/{partition}/centroid/{variant}/seeds-{block}.json",
        tidy=temp(
            "<results>/centroid/{protocol}/{dataset}/{partition}/{variant}-{block}.csv"
        ),
    log:
        "<logs>/train/{protocol}/{dataset}/{partition}/centroid/{variant}/seeds-{block}.log",
    benchmark:
        "<benchmarks>/train/{protocol}/{dataset}/{partition}/centroid/{variant}/seeds-{block}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    message:
        "train centroid on {wildcards.dataset}/{wildcards.partition}, seeds {wildcards.block}"
    shell:
        "(python {input.program} --dataset-file {input.dataset} --partition-file {input.partition}"
        " --seeds {wildcards.block} --out {output.tidy}"
        " && fedbench record --table {output.tidy} --program {input.program} --label 'Nearest centroid'"
        " --protocol {wildcards.protocol} --dataset {wildcards.dataset} --partition {wildcards.partition}"
        " --method centroid --variant {wildcards.variant} --dataset-file {input.dataset}"
        " --partition-file {input.partition} --out {output.record}) > {log} 2>&1"
