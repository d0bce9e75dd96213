# Needs make, Python ≥ 3.11 with venv, and a network for the first run; the tests, PostgreSQL's programs and Chromium, too
# (apt-get install postgresql chromium). uv is used when it is there.
PYTHON ?= python3
VENV := .venv/bin

.PHONY: demo test clients contract lowest lint types imports schemas lock machine soak promises mutations contact environment site screenshots

demo: ## start the companion, import, plan, apply, drift, undo
	$(PYTHON) examples/demo.py

# Bytecode is written whatever the environment says: the tests start programs by the hundred.
test: environment ## every test, in parallel
	PYTHONDONTWRITEBYTECODE= $(VENV)/python -m pytest -n auto --dist worksteal

clients: environment ## what the tests write clients of the companion's API with; without it they skip that (needs npm)
	@$(PYTHON) .ci/clients.py

contract: environment ## fetches the vendor's published documents and clients, once, and holds requests and answers against them (needs npm)
	$(VENV)/python -m tests.contract

lint: environment
	$(VENV)/ruff check .
	$(VENV)/ruff format --check .
	$(VENV)/codespell

types: environment
	$(VENV)/mypy

imports: environment
	$(VENV)/lint-imports

schemas: environment ## generate schemas/, docs/kinds/, docs/kind-internals.md, docs/api.md, docs/api-tests.md, and the tables of docs/platforms.md and docs/api-versions.md
	for name in plan apply rehearse drift import ids ids-file saved-plan journal findings config list history doctor version; do $(VENV)/dpsync schema $$name > schemas/$$name.schema.json; done
	$(VENV)/dpsync schema > schemas/dpsync.schema.json
	$(VENV)/python -m tools.kinds_page
	$(VENV)/python -m tools.kind_internals > docs/kind-internals.md
	$(VENV)/python tests/server/api_page.py > docs/api.md
	$(VENV)/python -m tools.platforms_page
	$(VENV)/python -m tools.surface

site: ## the documentation as a site, with a search that needs no network: build/site
	@$(PYTHON) .ci/site.py

screenshots: environment site ## pictures of a plan, its HTML page and comment, and of the site: build/*.png (needs chromium)
	$(VENV)/python -m tests.screenshots
	$(VENV)/python -m tests.docs.screenshots

lock: ## what the action installs and a release is built with: newest versions, with hashes of every file (needs uv)
	uv pip compile pyproject.toml --extra rehearse --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	  --no-header --no-emit-index-url --output-file action/requirements.txt
	uv pip compile --group release --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	  --no-header --no-emit-index-url --output-file .ci/release.txt

lowest: environment ## the tests of the core beside the oldest versions of what dpsync depends on (.venv-lowest)
	@$(VENV)/python .ci/lowest.py

# For how long, and which history: make machine MINUTES=30, make machine MACHINE="--seed 7 --steps 3,9"
MINUTES ?= 10
machine: environment ## what people do, at random; after each step every promise is held against it (docs/soak.md)
	$(VENV)/python -m tests.machine --minutes $(MINUTES) $(MACHINE)

soak: machine ## that, then every test for a long time: whole what a normal run tries a slice of (tests/soak.py)
	DPSYNC_SOAK=1 $(VENV)/python -m pytest -n auto --dist worksteal

# All, or some: make promises PROMISES="7 41"
promises: environment ## break each promise with a small mistake (docs/promise-mutants.md) and expect its tests to fail
	$(VENV)/python -m tests.mutants.promises $(PROMISES)

# Since which commit, and how many: make mutations MUTATIONS="--base main --most 10"
mutations: environment ## insert random mistakes into the lines that changed since yesterday, and list those that no test notices
	@$(PYTHON) .ci/mutations.py $(MUTATIONS)

contact: environment ## dpsync doctor --contact with each API version, and with 20 planted differences (tests/planted.py)
	$(VENV)/python -m tests.planted

environment:
	@$(PYTHON) .ci/environment.py
