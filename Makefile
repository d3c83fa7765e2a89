# Two commands: `make run` and `make test`. Both create .venv on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= auto # processes of pytest: as many as there are cores; 0 for a debugger

.PHONY: run test test-slow test-plain test-oldest test-newest lint bench docs clean

run: $(STAMP)
	$(BIN)/bestarm reproduce all --out results/paper --overwrite

test: $(STAMP) lint
	$(BIN)/python -m pytest -n $(WORKERS)

test-slow: $(STAMP)
	$(BIN)/python -m pytest -n $(WORKERS) -m slow

# What shows that an engine is the right one: trajectories against the twins, and its parts.
ENGINE := tests/kernels/test_trajectories.py tests/kernels/test_engine.py tests/kernels/test_private.py
QUICK := -k "not certified and not cold and not long and not literally"

# Without anything that numba and NumPy do not promise (kernels/jit/private.py).
test-plain: $(STAMP)
	BESTARM_PLAIN=1 $(BIN)/python -m pytest -n $(WORKERS) $(QUICK) $(ENGINE)

# With the oldest and the newest versions of numba, NumPy and SciPy that pyproject.toml allows, each in a .venv of its own.
test-oldest: .venv-oldest/.installed
	.venv-oldest/bin/python -m pytest -n $(WORKERS) $(QUICK) $(ENGINE)

test-newest: .venv-newest/.installed
	.venv-newest/bin/python -m pytest -n $(WORKERS) $(QUICK) $(ENGINE)

.venv-%/.installed: pyproject.toml .ci/versions.py
	test -x .venv-$*/bin/python || $(PYTHON) -m venv .venv-$*
	$(PYTHON) .ci/versions.py $* > .venv-$*/versions.txt
	.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check --upgrade --constraint .venv-$*/versions.txt --editable '.[tables]' hypothesis pytest pytest-xdist
	touch $@

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)
	$(BIN)/python -m benchmarks

docs: $(STAMP)
	$(BIN)/python -m docs.generate
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "open site/index.html"

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[all,docs,test]"
	touch $@

clean:
	rm -rf $(VENV) .venv-oldest .venv-newest results site .pytest_cache .mypy_cache .ruff_cache
