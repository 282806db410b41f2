# One command each. `make test` is what CI runs.
# Needs only python3 (3.11 or newer), git and make; everything else goes into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN_STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev
CAMPAIGNS_STAMP := $(VENV)/.installed-campaigns
JUNIT := build/junit.xml
CORE_JUNIT := build/junit-core.xml
CORE_LOG := build/core.log
# One more than the cores of CI: many tests wait for processes they started.
PROCESSES ?= 3
CORE := weft.model,weft.ledger,weft.storage,weft.coordinator
CORE_TESTS := $(addprefix tests/,model ledger storage coordinator worker runs test_api.py)
OTHER_TESTS := $(addprefix --ignore=,$(CORE_TESTS))
CHECKED := src tests examples benchmarks campaigns tools docs
SITE := -m sphinx -W --keep-going -n -q -b html docs
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.PHONY: help demo test tests bench chaos docs release clean

help:
	@echo "make demo     install, then the first minute with weft"
	@echo "make test     install with dev tools, then all checks and tests"
	@echo "make tests    only the tests of make test"
	@echo "make bench    side-by-side benchmarks, results under docs/benchmarks"
	@echo "make chaos    the slow fault campaigns, with their seeds and figures"
	@echo "make docs     write the generated pages again, then the site into build/docs"
	@echo "make release  check version, changelog and tree, build into dist, try the wheel"
	@echo "make clean    remove .venv, caches and build output"

demo: $(RUN_STAMP)
	$(BIN)/weft demo

# Types are checked, on one core, while kernels are compiled on the others.
test: $(DEV_STAMP)
	$(BIN)/ruff check $(wildcard $(CHECKED))
	$(BIN)/ruff format --check $(wildcard $(CHECKED))
	$(BIN)/mypy --strict src & types=$$!; \
	$(BIN)/lint-imports && $(BIN)/python -m weft.searches.arc.compile; \
	status=$$?; wait $$types && exit $$status
	@$(MAKE) --no-print-directory tests
	$(BIN)/python -m coverage report --skip-covered --fail-under=100

# Modules are compiled before the tests, which start thousands of interpreters, also where
# PYTHONDONTWRITEBYTECODE is set; tests once more, as pytest has them. The tests of the core, under
# coverage, run beside the others.
tests: $(DEV_STAMP)
	$(BIN)/python -m weft.searches.arc.compile
	$(BIN)/python -m compileall -q src tests
	$(BIN)/python tools/compile_tests.py tests
	@mkdir -p $(dir $(JUNIT))
	@status=0; \
	$(BIN)/python -m coverage run --branch --source=$(CORE) \
	  -m pytest -q --junitxml=$(CORE_JUNIT) $(CORE_TESTS) > $(CORE_LOG) 2>&1 & core=$$!; \
	$(BIN)/python -m pytest -n $(PROCESSES) --dist loadgroup --junitxml=$(JUNIT) \
	  $(OTHER_TESTS) || status=$$?; \
	wait $$core || status=$$?; \
	cat $(CORE_LOG); \
	$(BIN)/python tools/area_times.py $(JUNIT) $(CORE_JUNIT); \
	exit $$status

bench: $(DEV_STAMP)
	$(BIN)/python -m benchmarks

# A Weft search of its own: stopped and given again, it goes on. CHAOS="--minutes 30" cuts it.
chaos: $(CAMPAIGNS_STAMP)
	@status=0; \
	$(BIN)/python -m campaigns $(CHAOS) || status=$$?; \
	$(BIN)/python -m campaigns.mutation || status=$$?; \
	exit $$status

docs: $(DEV_STAMP)
	$(BIN)/python tools/make_docs.py
	$(BIN)/python $(SITE) build/docs
	@echo "open build/docs/index.html"

release: $(DEV_STAMP)
	$(BIN)/python tools/release.py

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "weft needs Python 3.11 or newer, $(PYTHON) is: $$($(PYTHON) --version 2>&1); next: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "$(PYTHON) cannot make a virtual environment; next: install its venv module (Debian: apt-get install python3-venv)" >&2; exit 1; }

$(RUN_STAMP): pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing weft with what the demo needs into $(VENV)"
	@$(PIP) install -e '.[arc,prng,tree]' -c constraints.txt
	@touch $@

$(DEV_STAMP): pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing weft and its dev tools into $(VENV)"
	@$(PIP) install -e '.[dev]' -c constraints.txt
	@touch $(RUN_STAMP) $@

# Some gigabytes: PyTorch trains in one campaign.
$(CAMPAIGNS_STAMP): $(DEV_STAMP)
	@echo "installing what only the campaigns need into $(VENV)"
	@$(PIP) install -e '.[campaigns]' -c constraints.txt
	@touch $@
