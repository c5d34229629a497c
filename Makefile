# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0
#
# make demo         see an arm under computed torque, over real ROS 2 topics
# make test         run the tests
# make test-versions  run those without DDS with what distributions ship, each in its own environment
# make docs         these pages and the API reference as HTML, in build/docs
# make bench        measure, beside other libraries, and write docs/development/benchmarks.md
# make bench-loop   measure the control loop, beside what else could run; writes the same page
# make soak         drive the control through random events, then run its loop for half an hour; fail where a
#                   rule breaks, memory or jitter grows
#
# All set up what they need below .venv/ and can be run again at once.
# PYTHON=...              the interpreter to use (3.10 or newer)
# ROS_DISTRO_WHEELS=...   jazzy (default) or kilted
# DEMO=... TEST=...       arguments of the demo, or of pytest; without TEST every test runs, all but
#                         those of the whole loop on all cores
# VERSIONS=ubuntu-22.04  environments of test-versions: names of files in constraints/, all by default
# BENCH=--quick           a short run that writes nothing, of either benchmark
# SOAK=...                arguments of the soak: --minutes=600, --rate=500, --write

SHELL := /bin/bash
PYTHON ?= $(firstword $(shell for v in 3.12 3.11 3.13 3.10 3; do \
    command -v python$$v > /dev/null && python$$v -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
    2> /dev/null && echo python$$v && break; done))
ROS_DISTRO_WHEELS ?= jazzy
VENV := .venv/$(ROS_DISTRO_WHEELS)
RUN := $(VENV)/bin/python
PIP := $(RUN) -m pip --disable-pip-version-check install -qq --constraint constraints.txt

export ROS_AUTOMATIC_DISCOVERY_RANGE := LOCALHOST
export PYTHONUNBUFFERED := 1

.PHONY: demo test test-versions docs bench bench-loop soak lint clean

demo: $(VENV)/demo.stamp
	@$(RUN) -m rnea_ros.sim.demo.demo $(DEMO)

# Two runs at once: tests over DDS, each on a domain of its own, wait half of the time; their output follows
# at the end. Without bytecode on disk each worker would compile every test again; with more than one thread
# of BLAS each the workers would hinder each other. Ctrl-C ends both runs (trap).
PYTEST := env PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 $(RUN) -m pytest
RESULTS := $(patsubst %,build/tests_%.xml,over_dds without_dds)

test: $(VENV)/test.stamp
ifdef TEST
	@$(PYTEST) $(TEST)
else
	@mkdir -p build; rm -f $(RESULTS); trap 'wait; exit 130' INT; failed=0; \
	(trap - INT; exec $(PYTEST) --junit-xml=$(word 1,$(RESULTS)) -n auto -m ros) \
	    &> build/tests_over_dds.txt & \
	$(PYTEST) --junit-xml=$(word 2,$(RESULTS)) -n auto -m 'not ros' || failed=1; \
	wait $$! || failed=1; cat build/tests_over_dds.txt; \
	$(RUN) test/support/totals.py $(RESULTS); exit $$failed
endif

# The exact versions of one environment; without dependencies, since some ask for a newer numpy.
VERSIONS ?= $(basename $(notdir $(wildcard constraints/*.txt)))

test-versions: $(VERSIONS:%=test-versions-%)

test-versions-%: constraints/%.txt
	@version=$$(sed -n 's/^# Python //p' $<); python=python$$version; environment=.venv/versions-$*; \
	if ! $$python -c '' 2> /dev/null; then \
	    export PYENV_VERSION=$$(pyenv versions --bare 2> /dev/null | grep "^$$version\." | tail -n 1); \
	fi; \
	if ! $$python -c '' 2> /dev/null; then \
	    echo "SKIPPED: $*: $$python is neither in PATH nor under pyenv" >&2; test "$$CI" != true; exit; \
	fi; \
	set -e; \
	if ! cmp -s $< $$environment/installed.txt; then \
	    echo "Setting up $* in $$environment ..."; \
	    $$python -m venv --clear $$environment; \
	    $$environment/bin/python -m pip --disable-pip-version-check install -qq --no-deps -r $<; \
	    cp $< $$environment/installed.txt; \
	fi; \
	echo "Testing with $*"; \
	$$environment/bin/python -m pytest -m 'not ros' $(or $(TEST),-n auto)

bench: $(VENV)/test.stamp
	@$(RUN) -m benchmark --write $(BENCH)

bench-loop: $(VENV)/test.stamp
	@$(RUN) -m benchmark.loop --write $(BENCH)

soak: $(VENV)/test.stamp
	@PYTHONPATH=.:test $(RUN) -m support.control.random_driver --runs 1000 --seed $$(date +%s)
	@$(RUN) -m benchmark.loop.soak $(SOAK)

docs: $(VENV)/docs.stamp
	@$(RUN) -m sphinx --fail-on-warning --keep-going -q --jobs auto docs build/docs
	@echo 'Open $(CURDIR)/build/docs/index.html'

lint: $(VENV)/lint.stamp
	@$(RUN) -m ruff check
	@$(RUN) -m mypy
	@$(VENV)/bin/lint-imports

clean:
	rm -rf .venv build demo_output

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo 'Python 3.10 or newer is needed: make PYTHON=...' >&2; exit 1; }
	@echo "Setting up a Python environment in $(VENV) ($$($(PYTHON) --version)) ..."
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	    echo 'Making it failed. On Debian and Ubuntu: apt install python3-venv' >&2; exit 1; }

$(VENV)/demo.stamp: $(VENV)/bin/python setup.py setup.cfg constraints.txt
	@echo 'Installing ROS 2 $(ROS_DISTRO_WHEELS), MuJoCo and the package from PyPI (about a minute) ...'
	@$(PIP) --editable '.[$(ROS_DISTRO_WHEELS),sim,streams,bags,panel]'
	@touch $@

# Pinocchio's wheel lacks one library, which minimal containers lack too.
$(VENV)/test.stamp: $(VENV)/demo.stamp
	@$(RUN) -c 'import ctypes; ctypes.CDLL("libgomp.so.1")' 2> /dev/null || { \
	    echo 'Pinocchio needs libgomp.so.1. On Debian and Ubuntu: apt install libgomp1' >&2; exit 1; }
	@echo 'Installing pytest and the oracles: Pinocchio, modern_robotics, vendor URDFs ...'
	@$(PIP) --editable '.[$(ROS_DISTRO_WHEELS),sim,streams,bags,panel,test]'
	@touch $@

$(VENV)/lint.stamp: $(VENV)/test.stamp
	@echo 'Installing ruff, mypy and import-linter ...'
	@$(PIP) --editable '.[$(ROS_DISTRO_WHEELS),sim,streams,bags,panel,test,lint]'
	@touch $@

$(VENV)/docs.stamp: $(VENV)/demo.stamp
	@echo 'Installing Sphinx ...'
	@$(PIP) --editable '.[$(ROS_DISTRO_WHEELS),sim,streams,bags,docs]'
	@touch $@
