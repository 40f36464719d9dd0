# Two commands for a newcomer: `make demo` and `make test`. Each sets up what it needs.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
WEB_READY := web/node_modules/.ready
BENCH := .venv-bench/bin
BENCH_READY := .venv-bench/.ready
JOBS ?= 2
unexport PYTHONDONTWRITEBYTECODE # compiled modules are kept: tests are found in half the time

.DEFAULT_GOAL := help
.PHONY: help demo test test-spark check lint lint-types lint-page lint-rooms lint-style page docs reference bench \
	audits notebooks screenshots release lock clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/'

# The environment is rebuilt when the lock or the project's own metadata changes, and only then.
$(READY): requirements/dev.txt pyproject.toml
	@echo "Setting up .venv (once) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Midpoint needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(WEB_READY): web/package-lock.json
	@command -v npm >/dev/null || { echo "The page's tests need Node.js 20 or newer with npm"; exit 1; }
	@echo "Setting up web/node_modules (once) ..."
	@npm ci --prefix web --silent --no-audit --no-fund
	@touch $@

demo: $(READY) ## train on MovieLens-100K, protect one person, serve the page
	@$(BIN)/midpoint demo

test: ## everything: format, lint, types, import contract, all tests
	@$(MAKE) --no-print-directory -j $(JOBS) lint
	npm --prefix web test
	MIDPOINT_CHROMIUM="$$(sh tools/chromium.sh)" $(BIN)/pytest -n $(JOBS) --hypothesis-profile=default

test-spark: $(READY) ## only the tests that start Spark (Java 17), among them a cluster of two processes
	$(BIN)/pytest -m spark

# Every process of a test run would read the plugin of schemathesis, which one slow test needs.
check: ## the quick subset of `test`, under a minute
	@$(MAKE) --no-print-directory -j $(JOBS) lint
	$(BIN)/pytest -n $(JOBS) -m "not slow and not spark" -q --hypothesis-profile=quick -p no:schemathesis

# In parts that `make -j` runs beside one another, the longest first.
lint: lint-types lint-page lint-rooms lint-style

lint-types: $(READY)
	$(BIN)/mypy

lint-page: $(WEB_READY)
	npm --prefix web run --silent check

lint-rooms: $(READY)
	$(BIN)/lint-imports --no-logo

lint-style: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

page: $(WEB_READY) ## build the page into the Python package, and the browser extension
	npm --prefix web run build
	npm --prefix web run build:extension

release: $(READY) ## build wheel and source archive, and try them in clean environments of every Python here
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tools/release.py $(RELEASE)

docs: $(READY) ## build the documentation into build/docs
	$(BIN)/mkdocs build --strict --site-dir build/docs

reference: $(READY) ## write docs/reference/http.md again, from the routes of the service
	$(BIN)/python tools/http_reference.py

# The peers live in an environment of their own, outside the lock. One of them wants torch, whose
# CPU build is enough where pip can find one.
$(BENCH_READY): pyproject.toml
	@echo "Setting up .venv-bench (once) ..."
	@$(PYTHON) -m venv .venv-bench
	@$(BENCH)/python -m pip install --quiet "torch==2.13.0+cpu" 2>/dev/null \
		|| { echo "No CPU build of torch found; give pip its index by PIP_EXTRA_INDEX_URL to spare gigabytes"; \
		$(BENCH)/python -m pip install --quiet torch; }
	@$(BENCH)/python -m pip install --quiet --prefer-binary -e '.[bench,service,spark]'
	@touch $@

notebooks: $(BENCH_READY) ## run the notebooks of the documentation again, and keep what they show
	$(BENCH)/python tools/notebooks.py $(NAMES)

screenshots: $(READY) ## take the documentation's pictures of the page again, in a real Chromium
	MIDPOINT_CHROMIUM="$$(sh tools/chromium.sh)" $(BIN)/python tools/screenshots.py

BENCHMARKS := training.factorization training.new_users training.own_recommender training.sets \
	training.panel_and_reports training.paper_model training.scaling training.engines \
	training.engine_counterparts training.counterparts privacy.privacy privacy.defences privacy.liar \
	person.sizes person.selection person.obfuscation person.single_call person.page \
	service.service service.service_faults service.service_hostile report.document
bench: $(BENCH_READY) ## speed, memory and quality beside the peers (hours; Java 17; QUICK=1: minutes, to see it run)
	@sh tools/wrk.sh >/dev/null
	@for data in movielens-100k $(if $(QUICK),,movielens-1m); do $(BENCH)/midpoint data get $$data || exit 1; done
	@export MIDPOINT_CHROMIUM="$$(sh tools/chromium.sh)"; failed=; \
		for program in $(BENCHMARKS); do echo "== $$program"; \
		$(BENCH)/python -m benchmarks.$$program $(if $(QUICK),--quick) || failed="$$failed $$program"; done; \
		[ -z "$$failed" ] || { echo "These failed:$$failed"; exit 1; }

audits: $(READY) ## the full audits of every data set (a day; goes on where it stopped; CASES=name for one)
	$(BIN)/python -m benchmarks.audits.audit $(CASES)
	$(BIN)/python -m benchmarks.report.document

LOCK := uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	--no-emit-index-url --no-emit-find-links --upgrade
lock: $(READY) ## compile the locked requirements again
	$(BIN)/$(LOCK) pyproject.toml --extra dev --output-file requirements/dev.txt
	echo hatchling | $(BIN)/$(LOCK) pyproject.toml - --extra service --constraint requirements/dev.txt \
		--output-file requirements/service.txt

clean: ## remove the environment and all caches
	rm -rf .venv .venv-bench build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
