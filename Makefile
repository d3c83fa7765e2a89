# Two commands: `make run` and `make test`. Both create .venv on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= auto # processes of pytest: as many as there are cores; 0 for a debugger

.PHONY: run test test-slow lint bench docs clean

run: $(STAMP)
	$(BIN)/bestarm reproduce all --out results/paper --overwrite

test: $(STAMP) lint
	$(BIN)/python -m pytest -n $(WORKERS)

test-slow: $(STAMP)
	$(BIN)/python -m pytest -n $(WORKERS) -m slow

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)
	$(BIN)/python -m benchmarks

docs: $(STAMP)
	$(BIN)/python -m docs.generate

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[all,test]"
	touch $@

clean:
	rm -rf $(VENV) results .pytest_cache .mypy_cache .ruff_cache
