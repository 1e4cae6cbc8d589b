#!/usr/bin/env bash
# Install the peer (OpenFGL) into an environment of its own, `.bench-env/`, ignored by git.
# A second call does nothing until requirements.txt changes. Set FEDBENCH_PEER_ENV to put it elsewhere.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

requirements=benchmarks/peer/requirements.txt
environment="${FEDBENCH_PEER_ENV:-.bench-env}"
stamp="$environment/installed-$(sha256sum "$requirements" | cut -c1-16)"
[ -e "$stamp" ] && exit 0

"${PYTHON:-python3}" -m venv --clear "$environment"
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$requirements"
touch "$stamp"
echo "peer installed in $environment"
