# Each target sets up what it needs on a machine with Python 3.11+ and Node.js 20+:
#   make demo    run the example on real data
#   make test    run all tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
UNIT := $(addprefix tests/,manifest config schemas limits memory injection enrichment signatures keys proofs/signing graph/test_names.py graph/test_terms.py graph/test_namespaced.py graph/test_provenance.py)
SOURCES := cortex_skills graph sandbox examples tests bench eval fuzz hatch_build.py build_steps
ASSETS := cortex_skills/doors/explorer/static/assets.json

# Packages of npm that tests use: those of `make test`, and the others of `make test-all`.
NPM := $(addprefix tests/,examples/typecheck mcp/conformance explorer/typecheck)
NPM_EXTENDED := $(addprefix tests/,mcp/inspector release server/sparql/javascript proofs/interop/digitalbazaar explorer/browser/axe) sdk/javascript
# A third process uses the processors while others wait for a server, a file or a clock.
PYTEST := $(BIN)/python -m pytest --numprocesses 3 --dist worksteal

.PHONY: help setup demo check test test-all lint bench bench-clean eval fuzz soak record wheel wheel-pure release-files sbom docs version clean

help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

## make setup   create an environment in .venv, download and compile the WebAssembly guests, build the explorer's scripts
setup: $(READY) $(ASSETS)

$(ASSETS): $(wildcard cortex_skills/doors/explorer/src/*) | $(READY)
	$(BIN)/python hatch_build.py
	@touch $@

$(READY): pyproject.toml hatch_build.py package-lock.json $(wildcard build_steps/* sandbox/guest/*.* sandbox/guest/engine/*.*)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@echo 'Compiling the sandbox for this machine (once, up to half a minute) …'
	@$(BIN)/python -c 'from cortex_sandbox import Sandbox, transpile; Sandbox().load_module(transpile("export default {}"))'
	@touch $@

## make demo    audit the licences of the installed packages: query, enrichment, assertions; keeps its graph in demo-graph
demo: setup
	$(BIN)/python examples/supply-chain/run_demo.py

## make test    run linters, type checks and the tests: under ten minutes on two cores
test: setup lint $(NPM:=/node_modules/.ready)
	$(BIN)/python -m tests.graph.w3c.fetch
	$(PYTEST) --durations 20 --durations-min 3 -m 'not timing and not extended'

## make test-all  run `make test`, then what takes long or needs a foreign program: the wheel, Virtuoso, other
##              implementations in JavaScript, pages in every form; .ci/run runs it
test-all: test $(NPM_EXTENDED:=/node_modules/.ready)
	$(PYTEST) --durations 20 --durations-min 3 -m 'extended and not timing'

# The packages of a folder are installed again when its lock file changes.
%/node_modules/.ready: %/package-lock.json
	npm ci --prefix $* --silent
	@touch $@

## make check   run linters, type checks and the unit tests: under a minute on two cores
##              (make check ROOM=registry runs the tests of that room and of the rooms that import it instead)
check: setup lint
	$(PYTEST) --quiet -m 'not slow and not timing and not extended' $(if $(ROOM),$$($(BIN)/python -m tests.room_tests $(ROOM)),$(UNIT))

## make lint    run ruff, mypy and import-linter
lint: setup
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports

## make bench   measure the figures of docs/benchmarks.md with their references: about ten minutes on two cores, ten
##              more with 10 million quads (make bench BENCH=--full); its stores are built once and kept in the
##              cache folder of the user (0.3 GB, 6 GB with 10 million quads) until make bench-clean
bench: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	npm ci --prefix bench --silent
	$(BIN)/python -m bench $(BENCH)
	$(BIN)/python -m pytest --quiet -m timing tests/graph/test_timing.py

bench-clean: setup
	$(BIN)/python -m bench --clean

## make eval    measure the injection detector (attacks found, facts lost) and finding (make eval EVAL=--show prints the misses)
eval: setup
	$(BIN)/python -m eval $(EVAL)
	$(BIN)/python -m eval.finding

## make fuzz    run generated hostile scripts, and read generated artifacts: five minutes each; then check each property with
##              twenty times the examples of make test
fuzz: setup
	$(BIN)/python -m fuzz.fuzz --seconds 300
	$(BIN)/python -m fuzz.artifact_readers --seconds 300
	CORTEX_TESTS_EXAMPLES=3 $(PYTEST) --timeout 3600 -m hypothesis

## make soak    share a store between eight processes that are killed, stopped and starved, with bytes flipped in between:
##              ten minutes; then write one audit from eight processes with ten kills, and stop a thousand endless
##              scripts at their deadlines
##              (make soak SOAK='--seconds 60 --seed 1' is shorter, and repeats the faults of a run)
soak: setup
	$(BIN)/python -m fuzz.soak --seconds 600 $(SOAK)
	$(BIN)/python -m fuzz.audit_soak --calls 100000 --processes 8 --kills 10
	$(BIN)/python -m fuzz.deadlines --count 1000

## make record  record the terminal session of docs/session.md
record: setup
	$(BIN)/python -m tests.docs.session

## make wheel   build a wheel in dist/ for this system and architecture, with compiled guests
wheel: setup
	CORTEX_PLATFORM_WHEEL=1 $(BIN)/python -m build --wheel

## make wheel-pure  build a wheel in dist/ for every platform: it compiles the guests where they run first
wheel-pure: setup
	$(BIN)/python -m build --wheel

## make release-files  make what registries and agent hosts read, in dist/: a bundle, a plugin folder, and with
##              REPOSITORY=OWNER/NAME the server.json
release-files: setup
	$(BIN)/python -m build_steps.release_files --repository "$(REPOSITORY)"

## make docs    build the documentation as a site in build/site: offline, no link leads nowhere
##              (make docs REPOSITORY=OWNER/NAME links to files of the repository)
docs: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	$(if $(REPOSITORY),REPO_URL=https://github.com/$(REPOSITORY)) $(BIN)/mkdocs build --quiet

## make sbom     list what an installation contains, with versions and licences, in dist/cortex-skills.cdx.json (CycloneDX)
sbom: wheel-pure
	$(PYTHON) -m venv --clear build/sbom
	build/sbom/bin/python -m pip install --quiet --disable-pip-version-check "$$(ls -t dist/*-any.whl | head -1)"
	build/sbom/bin/python -m pip uninstall --quiet --yes --disable-pip-version-check pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[release]'
	$(BIN)/cyclonedx-py environment build/sbom --pyproject pyproject.toml --output-reproducible --output-file dist/cortex-skills.cdx.json

## make version print the version
version:
	@$(PYTHON) -c "import tomllib; print(tomllib.load(open('pyproject.toml', 'rb'))['project']['version'])"

## make clean   delete everything that these targets created in this folder
clean:
	rm -rf $(VENV) dist build demo-graph sandbox/cortex_sandbox/guests $(dir $(ASSETS)) .mypy_cache .ruff_cache .pytest_cache .hypothesis
