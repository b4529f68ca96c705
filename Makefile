# make demo and make test need nothing before them: they make .venv and install what is missing.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: install demo test test-slow lint format bench clean

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "panconv needs Python 3.10 or newer: make PYTHON=python3.11 …")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: install
	$(BIN)/panconv reproduce table1
	$(BIN)/panconv reproduce figure2
	$(BIN)/panconv report
	@echo "open report.html in a browser"

test: install
	$(BIN)/python -m pytest --numprocesses auto

test-slow: install
	$(BIN)/python -m pytest -m slow

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: install
	$(BIN)/python benchmarks/suite.py
	$(BIN)/python benchmarks/tables.py --write docs/speed.md
	$(BIN)/python benchmarks/layer.py
	$(BIN)/python benchmarks/trials.py
	$(BIN)/python benchmarks/grid.py
	$(BIN)/python benchmarks/paths.py
	$(BIN)/python benchmarks/walks.py

clean:
	rm -rf .venv build dist results report.html
