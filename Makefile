# make demo and make test need nothing before them: they make .venv and install what is missing.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: install demo test test-slow fuzz fuzz-mutants lint format bench clean

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "panconv needs Python 3.10 or newer: make PYTHON=python3.11 …")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: install
	$(BIN)/panconv reproduce table1 --methods pan
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

# On a machine that has all it needs, such as one with a GPU: make bench BARE=1, with its own Python and no installation.
ifdef BARE
bench: RUN := PYTHONPATH=src $(PYTHON)
else
bench: RUN := $(BIN)/python
bench: install
endif
bench:
	$(RUN) benchmarks/suite.py; status=$$?; $(RUN) benchmarks/tables.py --write docs/lab/speed.md && exit $$status
	$(RUN) benchmarks/layer.py
	$(RUN) benchmarks/batches.py
	$(RUN) benchmarks/grid.py
	$(RUN) benchmarks/presets.py
	$(if $(BARE),,$(RUN) benchmarks/paths.py)
	$(RUN) benchmarks/walks.py

# The campaign against the oracle, and the other fuzzers. One case again: make fuzz REPLAY=seed:index. On a machine that
# has all it needs: make fuzz BARE=1.
CASES ?= 20000
SEED ?= 1
SHARDS ?= $(shell nproc)
ifdef BARE
fuzz fuzz-mutants: FUZZ := OMP_NUM_THREADS=1 PYTHONPATH=src:tests:tests/helpers:tests/fuzzers $(PYTHON)
else
fuzz fuzz-mutants: FUZZ := OMP_NUM_THREADS=1 PYTHONPATH=src:tests:tests/helpers:tests/fuzzers $(BIN)/python
fuzz fuzz-mutants: install
endif
fuzz:
ifdef REPLAY
	$(FUZZ) -m campaign --replay $(REPLAY) $(FLAGS)
else
	$(FUZZ) -m campaign --cases $(CASES) --seed $(SEED) --shards $(SHARDS) $(FLAGS)
	$(FUZZ) -m campaign.others --cases $(CASES) --seed $(SEED)
endif

fuzz-mutants:
	$(FUZZ) -m campaign.mutants

clean:
	rm -rf .venv build dist results report.html
