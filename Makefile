# Two commands: `make run` and `make test`. Both create .venv on first use. `make help` lists the others.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= auto # processes of pytest: as many as there are cores; 0 for a debugger
# Each process begins at another end of the suite: what one has compiled the other finds, and few fixtures are made twice.
SPREAD = -n $(WORKERS) --dist worksteal

.PHONY: help run test test-slow test-plain test-oldest test-newest test-warehouse lint bench bench-against docs clean test-random

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' Makefile | sed 's/:[^#]*## /: /'

run: $(STAMP) ## the main job: the paper's nine experiments, results/paper/report.html
	$(BIN)/bestarm reproduce all --out results/paper --overwrite

test: $(STAMP) lint ## all checks but the slow promises; WORKERS=0 for a debugger
	$(BIN)/python -m pytest $(SPREAD)

test-slow: $(STAMP) ## the promises, over thousands of trials
	$(BIN)/python -m pytest $(SPREAD) -m slow

# What shows that an engine is the right one: trajectories against the twins, and its parts.
ENGINE := tests/kernels/test_trajectories.py tests/kernels/test_engine.py tests/kernels/test_private.py tests/methods/test_certified.py
# The certified method by rewards with bounds only: without private interfaces the lattice takes a minute or more to compile.
CERTIFIED := (on_bounded_rewards and prescient) or (simulated and bernoulli)
QUICK := -k "(not certified or $(CERTIFIED)) and not cold and not long and not literally"

# Without anything that numba and NumPy do not promise (kernels/jit/private.py).
test-plain: $(STAMP) ## the engine without any private interface
	BESTARM_PLAIN=1 $(BIN)/python -m pytest $(SPREAD) $(QUICK) $(ENGINE)

test-random: $(STAMP) ## hypothesis with new examples, ten times as many
	HYPOTHESIS_PROFILE=random $(BIN)/python -m pytest $(SPREAD) tests/kernels/test_order_statistics.py tests/live

# With the oldest and the newest versions of numba, NumPy and SciPy that pyproject.toml allows, each in a .venv of its own.
test-oldest: .venv-oldest/.installed ## the engine with the oldest numba, NumPy and SciPy
	.venv-oldest/bin/python -m pytest $(SPREAD) $(QUICK) $(ENGINE)

VERSIONS := import numba, numpy, scipy; print(numba.__version__, numpy.__version__, scipy.__version__)

test-newest: $(STAMP) .venv-newest/.installed ## the engine with the newest ones
	@newest="$$(.venv-newest/bin/python -c '$(VERSIONS)')"; here="$$($(BIN)/python -c '$(VERSIONS)')"; \
	if [ "$$newest" = "$$here" ]; then echo "the newest are those of $(VENV), which make test has tried: $$newest"; \
	else .venv-newest/bin/python -m pytest $(SPREAD) $(QUICK) $(ENGINE); fi

# Ibis needs an older DuckDB than the rest of the tests have, so that it has a .venv of its own; Spark needs Java.
test-warehouse: .venv-warehouse/.installed ## logs that are tables in DuckDB, PostgreSQL, SQLite and a local Spark
	.venv-warehouse/bin/python -m pytest $(SPREAD) tests/log/test_warehouse.py tests/log/test_warehouse_spark.py
	.venv-warehouse/bin/python -m pytest -n 0 tests/project/test_docs.py -k warehouse.md

.venv-warehouse/.installed: pyproject.toml constraints.txt
	test -x .venv-warehouse/bin/python || $(PYTHON) -m venv .venv-warehouse
	grep -v '^duckdb==' constraints.txt > .venv-warehouse/versions.txt
	.venv-warehouse/bin/python -m pip install --quiet --disable-pip-version-check --constraint .venv-warehouse/versions.txt --editable '.[warehouse,live,test]' 'duckdb==1.5.6' 'ibis-framework[pyspark]' 'pyspark==4.0.5'
	touch $@

.venv-%/.installed: pyproject.toml .ci/versions.py
	test -x .venv-$*/bin/python || $(PYTHON) -m venv .venv-$*
	$(PYTHON) .ci/versions.py $* > .venv-$*/versions.txt
	.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check --upgrade --constraint .venv-$*/versions.txt --editable '.[tables]' hypothesis pytest pytest-xdist
	touch $@

lint: $(STAMP) ## ruff, mypy, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP) ## all measurements: benchmarks/RESULTS.md
	$(BIN)/python -m benchmarks

bench-against: $(STAMP) ## this version beside an earlier one, part by part: make bench-against REF=commit
	$(BIN)/python -m benchmarks.against $(REF)

docs: $(STAMP) ## the documentation site: site/index.html
	$(BIN)/python -m docs.generate
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "open site/index.html"

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[all,docs,test]"
	touch $@

clean: ## remove environments and everything generated
	rm -rf $(VENV) .venv-oldest .venv-newest .venv-warehouse results site .pytest_cache .mypy_cache .ruff_cache
