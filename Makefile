# make run    start it, from a clean clone, and say where to sign in
# make test   everything that must hold, on SQLite and on Postgres with Valkey
# make lint   what takes seconds
# make bench  measure it

PYTHON ?= python3
HOST ?= 127.0.0.1
PORT ?= 8000
export HOST PORT

.DEFAULT_GOAL := run
.PHONY: run test lint bench

run: .venv/.stamp
	@.venv/bin/python manage.py first_run
	@exec .venv/bin/python -m daphne --bind $(HOST) --port $(PORT) --verbosity 0 --no-server-name \
		--ping-interval 10 --ping-timeout 10 project.asgi:application

test lint: export DATA_DIR := $(CURDIR)/.venv-test/var

lint: .venv-test/.stamp
	.venv-test/bin/ruff check .
	.venv-test/bin/ruff format --check .
	.venv-test/bin/mypy

# First what must also hold on real servers, then everything.
test: lint .venv-test/.chromium
	.venv-test/bin/python manage.py makemigrations --check --dry-run
	PUBLIC_URL=https://soundings.example .venv-test/bin/python manage.py check --deploy --fail-level WARNING
	.venv-test/bin/python -m tests.rig pytest -m both
	.venv-test/bin/python -m pytest

bench: .venv-test/.stamp
	.venv-test/bin/python -m bench

.venv/.stamp: requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit("Soundings needs Python 3.11 or newer.") if sys.version_info < (3, 11) else 0'
	@$(PYTHON) -m venv .venv || { echo "Python has no venv here: install python3-venv."; exit 1; }
	@echo "Installing what Soundings needs into .venv (once)."
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

.venv-test/.stamp: requirements.txt requirements-dev.txt
	@$(PYTHON) -m venv .venv-test || { echo "Python has no venv here: install python3-venv."; exit 1; }
	@.venv-test/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

.venv-test/.chromium: .venv-test/.stamp
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || { \
		[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
		&& apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium >/dev/null; \
	} || { echo "The tests of the pages need Chromium: install the package chromium."; exit 1; }
	@touch $@
