# Review Loop. `make` alone lists the commands.

PYTHON ?= python3
RUN = .venv/bin/python -m
# Says every few seconds that the command goes on, which says nothing itself.
PROGRESS = $(PYTHON) -m local.progress
# The tests generate clients in TypeScript too, where there is a Node.
NODE_MODULES := $(if $(shell command -v npm),node_modules/.package-lock.json)
EXAMPLE_MODULES := $(if $(NODE_MODULES),$(addsuffix /node_modules/.package-lock.json,examples/ai-sdk examples/ai-sdk-7))
CHECK_PYTHON = $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo >&2 \
	'Review Loop needs Python 3.11 or newer: install it, or name it with make PYTHON=python3.12 …'; \
	exit 1; }
# mypy reads the settings, which need these variables; nothing connects.
LINT_ENV = SECRET_KEY=lint SITE_URL=http://localhost DATABASE_URL=postgres://localhost/x \
	REDIS_URL=redis://localhost ENCRYPTION_KEYS=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=

.DEFAULT_GOAL := help
.PHONY: help bench docs soak run test test-examples check coverage chaos rehearse lint format styles languages screenshots release
.DELETE_ON_ERROR:

help:  ## List the commands
	@echo 'make run     start everything at http://127.0.0.1:8000 (Ctrl-C stops it, the data stays)'
	@echo '             PORT=8001 another port, DATA_DIR=folder another place than .data'
	@echo '             DATABASE_URL=... REDIS_URL=... your servers instead of the embedded ones'
	@echo 'make check   lint, types and the tests that need no server (a minute)'
	@echo 'make test    lint, types and every test; starts its own servers (10 to 15 minutes)'
	@echo '             ARGS=tests/api/test_claims.py a file, a folder or any option of pytest'
	@echo 'make test-examples  test examples/ against the libraries of others (installs 1 GB first)'
	@echo 'make coverage  show which lines the tests run'
	@echo 'make chaos   cause faults and check the results (15 minutes; rewrites docs/reliability.md)'
	@echo 'make soak    twenty minutes of load beside all maintenance; nothing may grow'
	@echo 'make rehearse  do what docs/operations.md says, and an upgrade (rewrites docs/rehearsal.md)'
	@echo 'make bench   measure performance (seventeen minutes; rewrites docs/performance.md)'
	@echo 'make lint    ruff, mypy and the import rules'
	@echo 'make format  format the code with ruff'
	@echo 'make styles  compile the stylesheet and the icons (needs Node 20 or newer)'
	@echo 'make languages  add new texts to the catalogues in locale/ and compile them'
	@echo 'make docs    write the documentation as a site to build/docs'
	@echo 'make release  write the next version and its date everywhere (VERSION=1.2.3 chooses it)'
	@echo 'make screenshots  take pictures of every page, to look at and for the documents (needs chromium)'
	@echo
	@echo 'All of them need Python 3.11 or newer; PYTHON=python3.12 selects another one than python3.'

# The port and the disk are looked at before anything is installed, which takes a minute.
# exec: make passes its signals directly to the supervisor.
run:
	@$(CHECK_PYTHON)
	@$(PYTHON) -m local check
	@$(MAKE) --silent --no-print-directory .venv/run.stamp staticfiles/staticfiles.json
	@exec $(RUN) local run

# Each part of the suite prints its output when it ends (tests/parts.py).
test: .venv/dev.stamp staticfiles/staticfiles.json $(NODE_MODULES)
	@$(RUN) tests $(ARGS)

test-examples: .venv/dev.stamp .venv-examples/made.stamp .venv-airflow/made.stamp $(EXAMPLE_MODULES) $(NODE_MODULES)
	@$(RUN) pytest -q tests/examples $(ARGS)

check: .venv/dev.stamp
	@$(RUN) tests --check

# Leaves out the browser tests and those that start the whole service.
coverage: .venv/dev.stamp
	$(RUN) pytest -q -n 2 --dist worksteal --cov --cov-report term:skip-covered tests \
		--ignore tests/browser --ignore tests/processes --ignore tests/faults

# Its makers announce their next product in every run otherwise.
docs: export NO_MKDOCS_2_WARNING = 1
docs: .venv/dev.stamp
	@$(RUN) mkdocs build --quiet --strict
	@echo 'The site is in build/docs'

bench: .venv/dev.stamp staticfiles/staticfiles.json
	$(RUN) bench

soak: .venv/dev.stamp staticfiles/staticfiles.json
	$(RUN) tests.faults.soak

chaos: .venv/dev.stamp staticfiles/staticfiles.json
	$(RUN) tests.faults.chaos

rehearse: .venv/dev.stamp staticfiles/staticfiles.json
	$(RUN) tests.deploy.rehearsal

lint: .venv/dev.stamp
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) djlint --check --quiet templates
	.venv/bin/lint-imports
	$(LINT_ENV) $(RUN) mypy .

format: .venv/dev.stamp
	$(RUN) ruff format .
	$(RUN) ruff check --fix .
	-$(RUN) djlint --reformat --quiet templates

styles: .venv/run.stamp node_modules/.package-lock.json
	@$(RUN) styles

languages: .venv/dev.stamp
	@$(LINT_ENV) $(RUN) languages

release: .venv/dev.stamp
	@$(LINT_ENV) $(RUN) release $(VERSION)

screenshots: .venv/dev.stamp
	@DJANGO_ALLOW_ASYNC_UNSAFE=true $(RUN) pytest -q tests/browser/screenshots.py

node_modules/.package-lock.json: package.json package-lock.json
	@echo 'Installing the packages for Node'
	@$(PROGRESS) npm ci --silent --ignore-scripts

examples/%/node_modules/.package-lock.json: examples/%/package-lock.json
	@echo 'Installing the packages of examples/$*'
	@$(PROGRESS) npm ci --silent --ignore-scripts --prefix examples/$*

# The libraries of the examples: they are heavy, and what they need differs from what we need.
.venv-examples/made.stamp: requirements-examples.txt $(shell find clients/python -name '*.py')
	@echo 'Installing the libraries of the examples'
	@$(PROGRESS) $(PYTHON) -m venv .venv-examples
	@.venv-examples/bin/python -m pip install --quiet --disable-pip-version-check --no-input \
		-r requirements-examples.txt ./clients/python
	@.venv-examples/bin/python -m pip install --quiet --disable-pip-version-check --no-input \
		--upgrade --target .venv-examples/mcp-1 mcp==1.30.0
	@touch $@

.venv-airflow/made.stamp: requirements-airflow.txt $(shell find clients/python -name '*.py')
	@echo 'Installing Airflow'
	@$(PROGRESS) $(PYTHON) -m venv .venv-airflow
	@.venv-airflow/bin/python -m pip install --quiet --disable-pip-version-check --no-input \
		-r requirements-airflow.txt ./clients/python
	@touch $@

# The files that pages load, compressed and with a hash in each name.
staticfiles/staticfiles.json: .venv/run.stamp $(shell find static -type f 2>/dev/null)
	@echo 'Collecting and compressing static files'
	@$(LINT_ENV) $(PROGRESS) $(RUN) django collectstatic --settings config.settings --no-input -v 0 \
		--ignore redoc --ignore '*.map' --ignore 'swagger-ui-es*'
	@touch $@

.venv/made.stamp:
	@$(CHECK_PYTHON)
	@echo 'Making the virtual environment .venv'
	@$(PROGRESS) $(PYTHON) -m venv .venv
	@touch $@

.venv/run.stamp: .venv/made.stamp constraints.txt requirements.txt requirements-local.txt
	@echo 'Installing what it needs, which takes about a minute'
	@$(RUN) local.install requirements.txt requirements-local.txt
	@touch $@

.venv/dev.stamp: .venv/run.stamp requirements-dev.txt
	@echo 'Installing what the tests need'
	@$(RUN) local.install requirements-dev.txt
	@touch $@
