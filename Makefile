# Two commands set everything up on a fresh machine with Python >= 3.11: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
FUZZ_SECONDS ?= 60
WORKERS ?= 2
export HAYSTACK_TELEMETRY_ENABLED := False

.PHONY: help demo test unit promises fuzz lint types fmt services stop clean

help: ## show the targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

$(VENV)/.demo: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python >= 3.11 is needed, but this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -e .
	touch $@

$(VENV)/.dev: $(VENV)/.demo
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	touch $@

demo: $(VENV)/.demo ## install, and see three questions judged and corrected (no key, no network, no GPU)
	$(BIN)/crag demo

test: $(VENV)/.dev ## install, start the real services, run all tests
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

unit: $(VENV)/.dev ## the tests that need no service
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m "not integration"

promises: $(VENV)/.dev ## no shift, no invention: 10,000 generated examples of each promise about scores
	HYPOTHESIS_PROFILE=long $(BIN)/python -m pytest tests/test_promises.py tests/grading/test_grading_reply.py

fuzz: $(VENV)/.dev ## replies made up by a coverage-guided fuzzer, for FUZZ_SECONDS
	$(BIN)/python -m pip install --quiet -e '.[fuzz]'
	mkdir -p build/fuzz/corpus
	$(BIN)/python fuzz/read_reply.py -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -timeout=20 \
		-dict=fuzz/read_reply.dict -artifact_prefix=build/fuzz/ build/fuzz/corpus fuzz/corpus/read_reply

lint: $(VENV)/.dev ## ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev ## mypy --strict
	$(BIN)/mypy -p haystack_integrations.crag
	$(BIN)/mypy scripts tests/conftest.py tests/makers.py tests/service_fixtures.py tests/deployment.py tests/metrics_page.py tests/lying_server.py

fmt: $(VENV)/.dev ## format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

services: $(VENV)/.dev ## start Elasticsearch, Redis and searx and leave them running
	$(BIN)/python scripts/services.py start elasticsearch redis searx

stop: ## stop what `make services` started
	$(BIN)/python scripts/services.py stop

clean: ## remove the environment and build results
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
