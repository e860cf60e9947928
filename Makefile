# Two commands do all the set-up on a fresh machine with Python 3.11+ and Node.js 20+:
#   make demo    runs the main job on real data
#   make test    passes the tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
READER := cortex_skills/enrichment/detecting/reader
SOURCES := cortex_skills graph sandbox examples tests hatch_build.py

.PHONY: help setup demo test lint bench bench-clean eval fuzz literals record wheel clean

help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

## make setup   an environment in .venv, with the WebAssembly guests fetched and compiled
setup: $(READY)

$(READY): pyproject.toml hatch_build.py package-lock.json $(wildcard sandbox/guest/*.* sandbox/guest/warm/* sandbox/guest/engine/*.* $(READER)/*.[ch])
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@echo 'Compiling the sandbox for this machine (once, up to half a minute) …'
	@$(BIN)/python -c 'from cortex_sandbox import Sandbox, transpile; Sandbox().load_module(transpile("export default {}"))'
	@touch $@

## make demo    the licences of the packages installed here, asked, enriched and asserted
demo: setup
	$(BIN)/python examples/supply-chain/run_demo.py

## make test    linters, types and every test
test: setup lint
	npm ci --prefix tests/examples/typecheck --silent
	npm ci --prefix tests/mcp/inspector --silent
	npm ci --prefix tests/server/sparql/comunica --silent
	npm ci --prefix tests/proofs/interop/digitalbazaar --silent
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal --durations 40 --durations-min 3

## make lint    ruff, mypy and the one-way imports
lint: setup
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports

## make bench   the figures of docs/benchmarks.md, each beside its reference: about five minutes on two cores, and ten
##              more with 10 million quads (make bench BENCH=--full); the stores that it reads are built once and
##              kept in the user's cache folder (0.3 GB, 6 GB with 10 million quads), until make bench-clean
bench: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	npm ci --prefix tests/bench --silent
	$(BIN)/python -m tests.bench $(BENCH)

bench-clean: setup
	$(BIN)/python -m tests.bench --clean

## make eval    what the enrichment cleaner finds of attacks, and takes from facts (make eval EVAL=--show for the misses)
eval: setup
	$(BIN)/python -m tests.eval $(EVAL)

## make fuzz    hostile scripts, made up for ten minutes
fuzz: setup
	$(BIN)/python -m tests.hostile.fuzz --seconds 600

## make literals   what a text must hold for a pattern of the enrichment cleaner to stand in it, worked out anew
literals: setup
	$(BIN)/python -m tests.enrichment.literals

## make record  the terminal session of docs/session.md, done and written down anew
record: setup
	$(BIN)/python -m tests.docs.session

## make wheel   a wheel in dist/
wheel: setup
	$(BIN)/python -m build --wheel

## make clean   everything that was made here, gone
clean:
	rm -rf $(VENV) dist build sandbox/cortex_sandbox/guests $(READER)/reader.wasm $(READER)/reader.json .mypy_cache .ruff_cache .pytest_cache .hypothesis
