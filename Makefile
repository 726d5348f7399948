# Each target does all its own set-up: a fresh clone and Python 3.11 or newer are enough.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python

.PHONY: demo test lint bench clean

demo: $(VENV)/installed  ## recorded model outputs, parsed in the terminal
	@$(RUN) -m streamparse demo

test: $(VENV)/developing  ## the tests
	$(RUN) -m pytest -q

lint: $(VENV)/developing  ## style and types
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy

bench: $(VENV)/developing  ## speed, against the installed transformers parser
	$(RUN) -m benchmarks

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .hypothesis

# $(call set-up,WHAT TO INSTALL)
define set-up
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "needs Python 3.11 or newer: make PYTHON=python3.12 $(MAKECMDGOALS)")'
	@echo "setting up $(VENV), once ..."
	@$(PYTHON) -m venv $(VENV)
	@$(RUN) -m pip install --quiet --disable-pip-version-check --editable "$(1)"
	@touch $@
endef

$(VENV)/installed: pyproject.toml
	$(call set-up,.)

$(VENV)/developing: pyproject.toml
	$(call set-up,.[dev])
	@touch $(VENV)/installed
