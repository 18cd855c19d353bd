# Two commands set everything up: `make demo` and `make test`. Each is quick when all is there.
SHELL := /bin/bash
VENV := .venv
PYTHON := $(VENV)/bin/python
ARENA := $(VENV)/bin/arena
STAMP := $(VENV)/.installed

.PHONY: help demo test slow unit lint docs bench setup images pictures clean

help:  ## show this
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(STAMP)  ## install Arena here, and the Docker engine and Chromium where they are missing
	@docker/bootstrap.sh

$(STAMP): pyproject.toml
	@test -x $(PYTHON) || python3 -m venv $(VENV)
	$(PYTHON) -m pip install --quiet --upgrade pip
	$(PYTHON) -m pip install --quiet --editable . --group dev
	@touch $@

images: setup  ## build all sites' images and their staged live origins
	@$(ARENA) build all --staged

demo: setup  ## build what the demo needs; an agent solves tasks on replicas and on (staged) live sites; then a report
	@$(ARENA) build --suite demo --staged
	@$(ARENA) eval --suite demo --agent oracle --offline --online --staged

unit: $(STAMP)  ## the tests that need no engine and no browser
	@$(PYTHON) -m pytest tests/unit -n 2 -q

lint: $(STAMP) docs  ## style, types, arrows between packages, the documentation
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m ruff format --check .
	@$(PYTHON) -m mypy
	@PYTHONPATH=tests $(PYTHON) -m docker_types
	@$(VENV)/bin/lint-imports

docs: $(STAMP)  ## the documentation, into build/docs; a broken link is an error
	@NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --quiet

test: images lint unit  ## lint, unit, contract, docker, browser, and the demo suite's own proof
	@$(PYTHON) -m pytest tests --ignore tests/unit -q -m "not slow" --durations 15
	@$(ARENA) tasks lint arena-120
	@$(ARENA) tasks lint demo --prove

slow: images  ## the tests that take minutes each: arena-120's own proof, every image baked twice, every site under load
	@$(PYTHON) -m pytest tests/docker/proofs -q -m slow
	@$(PYTHON) -m pytest tests --ignore tests/docker/proofs -q -m slow --durations 0

bench: images  ## speed, as ratios within this run; also written to bench.json
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" PYTHONPATH=tests $(PYTHON) -m bench

pictures: images  ## take the README's pictures of the sites anew
	@$(ARENA) up all
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" PYTHONPATH=tests $(PYTHON) -m pictures

clean:  ## remove every container of Arena and what was installed here
	@test ! -x $(ARENA) || $(ARENA) down
	rm -rf $(VENV) bench.json
