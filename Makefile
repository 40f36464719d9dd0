# Two commands for a newcomer: `make demo` and `make test`. Each sets up what it needs.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
JOBS ?= 2

.DEFAULT_GOAL := help
.PHONY: help demo test check lint bench lock clean

help: ## list the targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/'

# The environment is rebuilt when the lock or the project's own metadata changes, and only then.
$(READY): requirements/dev.txt pyproject.toml
	@echo "Setting up .venv (once) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Midpoint needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

demo: $(READY) ## train on MovieLens-100K, protect one person, recommend to her
	@$(BIN)/midpoint demo

test: lint ## everything: format, lint, types, import contract, all tests
	$(BIN)/pytest -n $(JOBS)

check: lint ## the quick subset of `test`, under a minute
	$(BIN)/pytest -n $(JOBS) -m "not slow" -q

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

lock: $(READY) ## compile the locked requirements anew
	$(BIN)/uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 \
		--generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links \
		--upgrade --output-file requirements/dev.txt

clean: ## remove the environment and all caches
	rm -rf .venv .venv-bench build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
