# Two commands on a fresh machine do everything: `make train` and `make test`.
# They need Python 3.11 or later, make and git. Where PyTorch's default build would bring CUDA
# along, ask for the CPU build: make test TORCH_INDEX=https://download.pytorch.org/whl/cpu

PYTHON ?= python3
TORCH_INDEX ?=
BIN := .venv/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
SHARE := $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX))
SEED ?= 0
TRAINED := runs/make-train$(if $(filter-out 0,$(SEED)),-$(SEED))
MINUTES ?= 5
RATIOS ?= --against
HEAP ?= $(addprefix tests/,adapters engine games policies sessions training/dataset \
  training/evaluation training/exact training/learner)
# pip compiles nothing; what is imported, a small part, is compiled by Python once, and kept
export PYTHONDONTWRITEBYTECODE :=
# three files of tests at a time, in the order of tests/conftest.py: on two cores, as some only wait
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder

.PHONY: train test verify fuzz heap verify-clients coverage bench docs dist lint clean

train: .venv/train
	$(BIN)/hanamachi train configs/hanamikoji.yaml --out $(TRAINED) --set seed=$(SEED) --resume

test:
	$(MAKE) --jobs=2 lint $(addprefix warm-up-,hanamikoji geishas_road hanabi training)
	$(PYTEST)

verify: lint
	HANAMACHI_VERIFY=1 $(PYTEST) -n 2  # some of its figures are times

# random mistakes of users, by fresh seeds: MINUTES=10 TARGET=checkpoints; CASE=... replays one
fuzz: .venv/dev
	$(BIN)/python tests/fuzz $(if $(CASE),--case $(CASE),--minutes $(MINUTES)) \
	  $(if $(TARGET),--target $(TARGET)) $(if $(RESULTS),--json $(RESULTS))

# tests of compiled code, with glibc's checks of each piece of memory that is freed; half an hour
heap: .venv/dev
	LD_PRELOAD=libc_malloc_debug.so.0 MALLOC_CHECK_=3 MALLOC_PERTURB_=165 PYTHONMALLOC=malloc \
	  $(PYTEST) -n 2 $(HEAP)

# every example in an environment of its own, with its library as it is today, as one table
verify-clients:
	$(if $(TORCH_INDEX),PIP_EXTRA_INDEX_URL=$(TORCH_INDEX)) $(PYTHON) scripts/clients.py $(CLIENTS)

# lines and branches of the games and adapters, run as plain Python
coverage: .venv/dev
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run --source=envs -m pytest -m uncompiled
	$(BIN)/coverage report --fail-under=95

# whether the engine's ratios to other libraries are as good as before; RATIOS=--keep writes them
bench: .venv/dev
	HANAMACHI_THREADS=1 $(BIN)/python benchmarks/peers.py engine --game hanamikoji \
	  --game hanabi:2p --rounds 3 --seconds 0.2 $(RATIOS) benchmarks/ratios.json

# the site, into build/site; whatever is not as it should be is an error
docs: .venv/dev
	$(BIN)/python -m sphinx --quiet --nitpicky --fail-on-warning --keep-going docs build/site

# what is released, installed in fresh environments
dist: .venv/dev
	$(BIN)/python scripts/dist.py

# kernels that most tests need, compiled once, not by each process of tests, and those of the games
# while PyTorch and the rest are being installed
warm-up-%: .venv/base
	$(BIN)/python tests/support/warm_up.py $*

warm-up-training: .venv/dev
	$(BIN)/python tests/support/warm_up.py training

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python scripts/check_package.py

clean:
	rm -rf .venv .venv-clients build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/base: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip  # an old one takes a minute longer
	$(BIN)/python -m pip install --quiet --no-compile -e .
	touch $@

# what is installed already is not installed again, so that it can be in use meanwhile
.venv/train .venv/dev: .venv/base
	$(BIN)/python -m pip install --quiet --no-compile $(SHARE) "hanamachi[$(@F)]"
	touch $@
