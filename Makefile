# make demo: the main job on real models. make test: the quick tests; make test-all: those that take minutes, too.
# Each sets everything up in .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PEERS := $(VENV)/.peers
# Versions hold for what builds kineta, too: it compiles kernels, which are found again by that of llvmlite.
PIP := PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Commands that tests start do not compile all sources anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-slow test-all lint bench playground clean

demo: $(STAMP)
	$(BIN)/python examples/demo.py

test: $(STAMP)
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

test-slow: $(STAMP)
	$(BIN)/python -m pytest -n 2 --dist worksteal -m slow

# Of all tests at once, what several of them need is compiled once.
test-all: $(STAMP)
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(PEERS)
	$(BIN)/python -m benchmarks

# The playground as a folder, for any server of files.
playground: $(STAMP)
	$(BIN)/kineta play --to playground --force

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "kineta needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Call make PYTHON=python3.11.")'
	@echo "Installing kineta and what it needs in $(VENV): about a minute, most of it downloads."
	$(PYTHON) -m venv $(VENV)
	$(PIP) --no-compile -e '.[dev]'
	@$(BIN)/python -m compileall -qq -j 0 -x '/tests?/' $(VENV)/lib || true  # on all cores; some packages have files for other Pythons
	@touch $@

# What the benchmarks compile and call: headers of Eigen and Boost for Pinocchio's, and MuJoCo.
$(PEERS): $(STAMP)
	$(PIP) -e '.[bench]'
	@touch $@

clean:
	rm -rf $(VENV) kineta/prepared build dist demo playground *.egg-info
