# Two commands set everything up: `make demo` and `make test`. Each is quick when all is there.
# How the tests are arranged, and where a new one belongs: tests/README.md.
SHELL := /bin/bash
VENV := .venv
PYTHON := $(VENV)/bin/python
ARENA := $(VENV)/bin/arena
STAMP := $(VENV)/.installed

# The sites that `make test` plays on; `make test-all` plays on all.
QUICK_SITES := shop wiki tools home miniwob
FIRST_SITES := $(QUICK_SITES) cms forge forum map
LATER_SITES := office hub erp
QUICK_TASKS := --task wiki-samovar --task shop-latest-order-total --task merchant-change-a-price
# Derandomised tests draw from sets, too, whose order follows the hashes: `PYTHONHASHSEED=random` explores.
export PYTHONHASHSEED ?= 0
PYTEST := $(PYTHON) -m pytest
# Containers and browsers on two cores may starve each other, and a container that comes or goes makes
# Chromium drop what it loads for another test. What fails is tried again and named in the summary
# ("RERUN"); more than a few of them fail the run (tests/conftest.py).
NOT_UNIT := $(PYTEST) tests --ignore tests/unit --reruns 1 -rR

.PHONY: help demo test test-all slow slow-shard properties unit quick lint docs fuzz faults soak bench setup images quick-images pictures schemas clean

help:  ## show this
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

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

quick-images: setup
	@$(ARENA) build $(QUICK_SITES) --staged

unit: $(STAMP)  ## the quick tests that need no engine and no browser: a minute and a half
	@$(PYTEST) tests/unit -n 2 --dist worksteal -q -m "not slow"

lint: $(STAMP) docs  ## style, types, arrows between packages, the documentation
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m ruff format --check .
	@$(PYTHON) -m mypy
	@PYTHONPATH=tests $(PYTHON) -m docker_types
	@$(VENV)/bin/lint-imports

docs: $(STAMP)  ## the documentation, into build/docs; a broken link is an error
	@NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --quiet

test: lint unit quick  ## what every change must pass, in ten minutes: every package, real containers, a browser, both worlds
	@$(ARENA) tasks lint arena-120
	@$(ARENA) tasks lint demo
	@$(ARENA) tasks lint demo --prove $(QUICK_TASKS)

quick: quick-images  ## the quick tests with containers and browsers, on two workers
	@$(NOT_UNIT) -n 2 --dist loadgroup -q -m "not slow" --durations 15

test-all: images lint unit properties quick slow  ## everything, in an hour: every site, every fault, stress, bakes, all proofs

properties: $(STAMP)  ## the unit tests that `make unit` leaves out, and all property tests with many more examples
	@$(PYTEST) tests/unit -n 2 --dist worksteal -q -m "slow or hypothesis" --hypothesis-profile=full

slow: images  ## what `make test` leaves out
	@$(NOT_UNIT) -q -m slow --durations 0
	@$(ARENA) tasks lint arena-120
	@$(ARENA) tasks lint demo --prove

# Nothing is begun that might not end by ARENA_TESTS_UNTIL: the first images take twelve minutes, one of
# LATER_SITES (another first each day) eight, and its tests twelve. Those not built are skipped (shards.py).
slow-shard: properties setup  ## one part of that: SHARD=2/6
	@until=$${ARENA_TESTS_UNTIL:-99999999999}; left=; \
	if [ $$(($$(date +%s) + 720)) -gt $$until ]; then echo "no time is left for slow tests"; exit 0; fi; \
	$(ARENA) build $(FIRST_SITES) --staged || exit; \
	set -- $(LATER_SITES); \
	for _ in $$(seq $$(($$(date +%s) / 86400 % $$#))); do set -- "$${@:2}" "$$1"; done; \
	for site; do \
		if [ $$(($$(date +%s) + 1200)) -lt $$until ]; \
		then $(ARENA) build $$site || exit; else left="$$left $$site"; fi; \
	done; \
	ARENA_TESTS_WITHOUT="$$left" $(NOT_UNIT) -q -m slow --shard $(or $(SHARD),1/6) --durations 15

fuzz: $(STAMP)  ## mutants of files and HTTP messages that may come from anybody, on from where the last run ended
	@PYTHONPATH=tests $(PYTHON) -m fuzz $(COUNT) $(DOORS)

faults: quick-images  ## real runs under COUNT faults more, by seed; what came of each, and whether any trial was lost
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" PYTHONPATH=tests $(PYTHON) -m faults $(COUNT)

soak: images  ## the random agent on all sites for MINUTES=60, with forks and a fault a minute; fails if anything grows
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" PYTHONPATH=tests $(PYTHON) -m soak $(or $(MINUTES),60) $(TASKS)

bench: images  ## speed, as ratios within this run; also written to bench.json
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" PYTHONPATH=tests $(PYTHON) -m bench

pictures: images  ## take the documentation's pictures of the sites again
	@$(ARENA) up all
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" PYTHONPATH=tests $(PYTHON) -m pictures

schemas: $(STAMP)  ## write the JSON Schemas anew from the models
	@for kind in suite site study evidence lock; do rm -f orchestrator/authoring/schemas/$$kind-*.json; done
	@$(PYTHON) -m orchestrator.authoring.schemas.documents

clean:  ## remove every container of Arena and what was installed here
	@test ! -x $(ARENA) || $(ARENA) down
	rm -rf $(VENV) bench.json
