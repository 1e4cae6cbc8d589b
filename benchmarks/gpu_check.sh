#!/usr/bin/env bash
# Correctness, then speed, of the engine on a GPU. Needs no network and no data: the graphs are synthetic.
#   benchmarks/gpu_check.sh [OUT.jsonl]
# Exits 0 if every method agrees with the CPU, 1 if one differs, 2 without a CUDA device or a needed package.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-/dev/null}
python3 -c 'import numpy, pyarrow, pydantic, scipy, torch, yaml' || { echo "gpu_check: install requirements.lock first" >&2; exit 2; }
PYTHONPATH=. PYTHONUNBUFFERED=1 python3 -m benchmarks.gpu_check | tee "$out"
