"""Through Slurm: jobs go to every node, and each GPU job gets a device of its own.

Needs a cluster with two nodes of two (pretended) GPUs each, as `.ci/one-machine-slurm.sh start DIR 2 2` makes.
"""

import pytest

METHODS = ("local", "fedavg", "fedprox", "fedper", "majority", "self_weight")
RECORD = "results/records/smoke/cora-mini/metis-3/{}/default/seeds-0-1.parquet"
SLURM = (
    *("--workflow-profile", "workflow/profiles/slurm", "--slurm-status-command", "squeue"),
    *("--slurm-init-seconds-before-status-checks", "2", "--latency-wait", "10"),
)


@pytest.mark.slurm
def test_gpu_jobs_spread_over_nodes_and_devices(tree):
    tree.environment["STAND_IN_SECONDS"] = "3"
    assert tree.snakemake("results/partitions/cora-mini/metis-3.npz", "--config", "suite=smoke").returncode == 0
    targets = [RECORD.format(method) for method in METHODS]
    said = tree.snakemake(*targets, *SLURM, "--config", "suite=smoke", "device=cuda")
    assert said.returncode == 0, said.stdout
    calls = tree.calls("train")
    assert len(calls) == len(METHODS)
    places = [call.split()[-2:] for call in calls]
    assert {node for _, node in places} == {"node=n1", "node=n2"}
    assert {device for device, _ in places} == {"CUDA_VISIBLE_DEVICES=0", "CUDA_VISIBLE_DEVICES=1"}


@pytest.mark.slurm
def test_a_failing_job_fails_the_run_and_names_its_log(tree):
    program = tree.folder / "bin/fedbench"
    program.write_text("#!/bin/sh\nexit 3\n")
    said = tree.snakemake("results/datasets/cora-mini.npz", *SLURM, "--retries", "0", "--config", "suite=smoke")
    assert said.returncode != 0
    assert "results/logs/fetch/cora-mini.log" in said.stdout
