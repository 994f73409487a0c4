# Everything runs inside .venv, which the first target that needs it creates.
# PYTHON chooses the interpreter it is made from (3.11 or later): make test PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.installed
PYTEST_FLAGS ?=
# files are shared out among as many processes as there are cores; -n0 in PYTEST_FLAGS runs them in one
PARALLEL := --numprocesses auto --maxprocesses 8 --dist loadfile
MINUTES ?= 10

.DEFAULT_GOAL := help
.PHONY: help venv demo test pytest lint type fmt golden bench bench-strictness fuzz verify-math clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

venv: $(READY) ## create .venv with tensorc (editable) and the development tools

$(READY): pyproject.toml constraints-dev.txt tools/hatch_build.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "tensorc needs Python 3.11 or later: make PYTHON=python3.x")'
	@$(PYTHON) -c 'import ensurepip' || { echo "this Python cannot create environments (Debian: apt-get install python3-venv)" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints-dev.txt hatchling editables
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -c constraints-dev.txt -e '.[dev]'
	@touch $@

demo: $(READY) ## compile the examples, run them, check them against NumPy, print the fusion logs
	@$(BIN)/python examples/demo.py

test: lint pytest ## lint, then every test with every C++ compiler found

pytest: $(READY)
	@$(BIN)/python tools/compilers.py
	@$(BIN)/python -m pytest $(PARALLEL) $(PYTEST_FLAGS)

lint: $(READY) ## style, types, import layers, size budget, words
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python tools/size_budget.py
	@$(BIN)/python tools/forbidden_words.py

type: $(READY) ## mypy --strict only
	@$(BIN)/mypy

fmt: $(READY) ## format, and apply the safe fixes
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

golden: $(READY) ## rewrite the golden files (read the diff before committing)
	@$(BIN)/python -m pytest tests/golden tests/e2e/test_readme.py --update-golden $(PYTEST_FLAGS)

bench: $(READY) ## speed beside the installed peers, with each engine's error
	@$(BIN)/python benchmarks/suite.py

fuzz: $(READY) ## random programs through every path that must agree: MINUTES=10, SEED=, REPLAY=file
	@$(BIN)/python tools/fuzz.py --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) $(if $(REPLAY),--replay $(REPLAY))

bench-strictness: $(READY) ## what strictness costs: strict and math=fast in turns
	@$(BIN)/python benchmarks/suite.py --strictness

verify-math: $(READY) ## errors of the elementary functions over every f32 argument: half an hour
	@$(BIN)/python tools/verify_math.py

clean: ## remove .venv, build output and caches
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
