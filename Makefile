# Two commands do everything on a bare Debian 12: `make demo` and `make test`. The rest is for developers.
SHELL   := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
JOBS    := $(shell nproc)
# The library uses BLAS on one thread; this saves starting the others, which look for work for some milliseconds.
export OPENBLAS_NUM_THREADS := 1
PREFIX  ?= /usr/local
FUZZ_SECONDS ?= 60
SOAK_MINUTES ?= 10

.PHONY: demo test verify bench figures fuzz soak install format check-format tidy clean setup setup-all build

setup:
	@scripts/setup

setup-all:
	@scripts/setup all

build: setup
	@cmake --preset release >/dev/null
	@cmake --build build -j $(JOBS)

demo: setup
	@cmake --preset release >/dev/null
	@cmake --build build -j $(JOBS) --target yoke
	@build/yoke run examples/squeezer.yaml -o demo.h5 --csv demo.csv
	@echo "Results: demo.h5 (HDF5) and demo.csv. Next: build/yoke info demo.h5, build/yoke help"

# Release and sanitizers; the last line is the summary of all suites.
test: setup check-format
	@scripts/test release asan

# Everything that takes longer: other compilers and builds, valgrind, clang-tidy, long simulations.
verify: setup-all tidy
	@scripts/test --label verify release
	@scripts/test minimal tsan
	@scripts/valgrind

# BENCH="--quick", BENCH="--against main", ...: bench/run says what there is.
bench: build
	@bench/run $(BENCH)

# The pictures of docs/stability.md.
figures: build
	@scripts/figures build/figures

fuzz: setup-all
	@scripts/fuzz $(FUZZ_SECONDS)

soak: build
	@scripts/soak $(SOAK_MINUTES)

install: build
	@cmake --install build --prefix $(PREFIX)

format: setup
	@git ls-files '*.c' '*.h' | xargs clang-format -i

check-format: setup
	@git ls-files '*.c' '*.h' | xargs clang-format --dry-run --Werror

tidy: setup-all build
	@git ls-files 'src/*.c' 'cli/*.c' | xargs -P $(JOBS) -n 1 clang-tidy --quiet -p build 2>&1 | { grep -v 'warnings\? generated' || true; }

clean:
	@rm -rf build build-*
