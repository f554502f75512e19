# Everything is set up by the targets themselves, in .venv, the first time they run; nothing is
# installed outside this folder. Needs: Python 3.11 or newer with pip, git, make; Linux.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)
VENV := .venv
BIN := $(VENV)/bin
# The machine's own certificates where it has some, so that a network with its own authority works.
CERTS := $(if $(wildcard /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem),--system-certs)
UV := VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/uv -q --no-progress $(CERTS)

READY_RUN := $(VENV)/.ready-run
READY_DEV := $(VENV)/.ready-dev

.PHONY: help demo test unit check bench lock clean format

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

demo: $(READY_RUN)  ## set up, then turn the shipped crash into a failing test
	@$(BIN)/reproof demo

test: $(READY_DEV)  ## set up, then run every test; the closing lines list what could not run here
	@$(BIN)/python -m pytest $(ARGS)

unit: $(READY_DEV)  ## only the tests that need no sandbox (seconds)
	@$(BIN)/python -m pytest tests/unit tests/repo $(ARGS)

check: $(READY_DEV)  ## format, lint, strict types, import contracts, docs against code
	@$(BIN)/ruff format --check src tests bench
	@$(BIN)/ruff check src tests bench
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m pytest -q tests/repo

format: $(READY_DEV)  ## let ruff rewrite what it can
	@$(BIN)/ruff format src tests bench
	@$(BIN)/ruff check --fix src tests bench

bench: $(READY_DEV)  ## the crash corpus and the timings
	@$(BIN)/python bench/overhead.py
	@PATH="$(abspath $(BIN)):$$PATH" bash bench/corpus.sh $(ARGS)

lock: $(READY_DEV)  ## resolve the pins in requirements/ again (add UPGRADE=--upgrade for newer ones)
	@bash requirements/lock.sh $(BIN)/uv $(UPGRADE)

clean:  ## remove the environment and every cache in this folder
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(BIN)/uv: requirements/bootstrap.txt
	@[ -n "$(PYTHON)" ] || { echo "error: no Python 3.11 or newer found; install one, or name it: make PYTHON=/path/to/python3" >&2; exit 1; }
	@if ! $(BIN)/python -c '' 2>/dev/null; then \
	  echo "setting up $(VENV) with $$($(PYTHON) --version)" >&2; \
	  $(PYTHON) -m venv --clear $(VENV) >/dev/null 2>&1 || $(PYTHON) -m venv --clear --without-pip $(VENV); \
	fi
	@if [ -x $(BIN)/pip ]; then pip="$(BIN)/python -m pip"; else pip="$(PYTHON) -m pip --python $(BIN)/python"; fi; \
	  $$pip install -q --disable-pip-version-check --no-deps --require-hashes -r requirements/bootstrap.txt
	@touch $@

$(READY_RUN): $(BIN)/uv requirements/run.txt pyproject.toml
	@$(UV) pip install --require-hashes --compile-bytecode -r requirements/run.txt
	@$(UV) pip install --no-deps --no-build-isolation --editable .
	@touch $@

$(READY_DEV): $(READY_RUN) requirements/dev.txt
	@$(UV) pip install --require-hashes --compile-bytecode -r requirements/dev.txt
	@touch $@
