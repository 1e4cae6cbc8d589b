# `make tables` and `make test` need Python 3.11 and pip; the first run makes .venv (a minute or two). Another release of
# Python writes syntax trees otherwise, so that every record would count as made by other code.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
CORES ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 2)
SUITE ?= quick
VENV := .venv
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)

# Exact versions come from the lock file, whatever is asked for.
PIP := $(VENV)/bin/python -m pip install -qq --disable-pip-version-check --constraint requirements.lock
SNAKEMAKE := snakemake --cores $(CORES) --workflow-profile workflow/profiles/default
READY := $(VENV)/.ready
READY_TO_TEST := $(VENV)/.ready-to-test

.DEFAULT_GOAL := help
.PHONY: help tables figures report all plan smoke test lint format check calibrate theorems bench verify-records \
        tables-from-records lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-22s%s\n", $$1, $$2}' $(MAKEFILE_LIST)

tables: $(READY) ## rebuild every table of a suite from raw public data (SUITE=quick)
	$(SNAKEMAKE) tables --config suite=$(SUITE)
	@echo "Tables are in reports/$(SUITE)/tables/."

figures: $(READY) ## rebuild every figure of a suite
	$(SNAKEMAKE) figures --config suite=$(SUITE)

report: $(READY) ## one HTML report with every table and figure: reports/<suite>/report.zip
	$(SNAKEMAKE) all --config suite=$(SUITE)
	$(SNAKEMAKE) all --config suite=$(SUITE) --report reports/$(SUITE)/report.zip

plan: $(READY) ## print what a suite will run, and how long it will take by past records
	fedbench plan --suite $(SUITE) --cores $(CORES)

smoke: SUITE := smoke
smoke: tables figures ## every step of the road on small pieces of Cora, MUTAG and MovieLens, in a few minutes

test: $(READY_TO_TEST) ## run the tests
	pytest --numprocesses $(CORES) --dist loadfile

lint: $(READY_TO_TEST) ## check style, types, imports and the workflow
	ruff check .
	ruff format --check .
	mypy
	lint-imports
	snakefmt --check Snakefile workflow examples
	snakemake --lint

format: $(READY_TO_TEST) ## format the code and the workflow
	ruff format .
	snakefmt Snakefile workflow examples

check: $(READY) ## say which records are stale or invalid, and why
	fedbench check --records results/records

# `calibration` is the last, for it needs a file that only $FEDBENCH_MIRROR has.
# Without calibration-lightgcn, which takes several core-hours: make tables SUITE=calibration-lightgcn, then fedbench calibrate.
calibrate: $(READY) ## compare with figures known to be reproducible: reports/calibration*.csv
	for suite in calibration-rec calibration-graph calibration; do \
	    $(SNAKEMAKE) tables --config suite=$$suite && fedbench calibrate --suite $$suite || exit 1; \
	done

theorems: $(READY) ## measure what the papers' theorems claim: reports/theorems.csv and .md
	fedbench theorems --out reports/theorems.csv

bench: $(READY) ## measure speed against peers: reports/benchmarks.csv
	python -m benchmarks

verify-records: $(READY) ## retrain a random sample of the committed records and compare
	files=$$(fedbench verify --bundle reports/paper/records --files) && $(SNAKEMAKE) $$files
	fedbench verify --bundle reports/paper/records

tables-from-records: $(READY) ## rebuild the committed tables from the committed records, in a minute (but those of partitions)
	for suite in paper fedaux-what-works; do \
	    for table in $(filter-out fedaux-noniid,$(basename $(notdir $(wildcard reports/paper/tables/*.csv)))) \
	        $(basename $(notdir $(wildcard reports/fedaux-what-works/tables/*.csv))); do \
	        [ ! -f reports/$$suite/tables/$$table.csv ] || fedbench table $$table --suite $$suite --partial \
	            --records reports/$$suite/records --out reports/$$suite/tables || exit 1; \
	    done; \
	done

lock: ## write requirements.lock anew from the pins of pyproject.toml
	rm -rf build/lock && $(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install -qq --disable-pip-version-check '.[test,slurm]'
	echo "# Exact versions of everything that fedbench, its tests and its Slurm plugin need. Written by 'make lock'." \
	    > requirements.lock
	build/lock/bin/python -m pip freeze --exclude fedbench | sed 's/+cpu$$//' >> requirements.lock

clean: ## remove .venv and what results/ holds, but not records and unfinished seeds: they are hours of training
	rm -rf $(VENV) .snakemake
	find results -mindepth 1 -maxdepth 1 ! -name 'README*' ! -name records ! -name state -exec rm -rf {} +

$(VENV)/bin/python:
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' \
	    || { echo "fedbench needs Python 3.11, found '$(PYTHON)'; name one with PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(READY): requirements.lock pyproject.toml | $(VENV)/bin/python
	@echo "Installing fedbench into $(VENV): a minute or two."
	$(PIP) --editable .
	@touch $@

$(READY_TO_TEST): $(READY)
	@echo "Installing what the tests need into $(VENV)."
	$(PIP) --editable '.[test,slurm]'
	@touch $@
