# Two commands do everything on a bare Debian 12: `make demo` and `make test`. The rest is for developers.
SHELL   := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
JOBS    := $(shell nproc)
# The library uses BLAS on one thread; this saves starting the others, which look for work for some milliseconds.
export OPENBLAS_NUM_THREADS := 1
PREFIX  ?= /usr/local
# Where things are built: the source tree may be read-only, and need not be under git. Other builds lie beside it (BUILD_DIR-asan, ...).
BUILD_DIR ?= build
export YOKE_BUILD := $(abspath $(BUILD_DIR))
# What `make demo` draws stays here, or in BUILD_DIR if that is elsewhere.
DEMO_DIR ?= $(if $(filter build,$(BUILD_DIR)),.,$(BUILD_DIR))
FUZZ_SECONDS ?= 60
SOAK_MINUTES ?= 10

# With or without git.
SOURCES = find include src cli tests bench -name '*.[ch]' | LC_ALL=C sort

.PHONY: help setup setup-test setup-all build demo test test-quick verify bench figures fuzz soak install uninstall format check-format tidy clean

help:
	@echo "make demo     build the program; a pendulum cut in two, coupled naively and well, with pictures"
	@echo "make build    $(BUILD_DIR)/yoke, $(BUILD_DIR)/libyoke.so and $(BUILD_DIR)/libyoke.a"
	@echo "make install  build, then copy to PREFIX ($(PREFIX)), below DESTDIR if given; make uninstall removes it"
	@echo "make test     tests, plain and with sanitizers, without the longest"
	@echo "make test-quick  the short ones of the release build, in a minute and a half"
	@echo "make bench    benchmarks: accuracy beside time"
	@echo "make verify   clang-tidy, valgrind, all tests whole, thread sanitizer, minimal build, long tests"
	@echo "make figures  the pictures of docs/stability.md, into $(BUILD_DIR)/figures"
	@echo "make fuzz     mutated model files for FUZZ_SECONDS ($(FUZZ_SECONDS))"
	@echo "make soak     all examples again and again for SOAK_MINUTES ($(SOAK_MINUTES))"
	@echo "make format   clang-format on every file"
	@echo "make clean    remove what was built"
	@echo "BUILD_DIR=FOLDER builds there instead of in build: the source tree may be read-only."
	@echo "All but help, uninstall and clean first install the Debian packages that are missing (scripts/setup)."

setup:
	@scripts/setup program

setup-test:
	@scripts/setup test

setup-all:
	@scripts/setup all

build: setup
	@cmake --preset program -B "$(YOKE_BUILD)" >/dev/null
	@cmake --build "$(YOKE_BUILD)" -j $(JOBS)

demo: build
	@here="$$PWD"; cd "$(DEMO_DIR)"; "$$here/scripts/demo" "$(if $(filter .,$(DEMO_DIR)),$(BUILD_DIR)/yoke,$(YOKE_BUILD)/yoke)"

# Release and sanitizers, without the longest tests; the last line is the summary of all suites.
test: setup-test check-format
	@scripts/test release asan

# Release alone, without what takes longer than 0.1 s.
test-quick: setup-test
	@scripts/test --quick release

# Everything that takes longer: other compilers and builds, valgrind, clang-tidy, long simulations.
verify: setup-all tidy
	@scripts/test --label verify release
	@YOKE_WHOLE=1 scripts/test release asan minimal
	@scripts/test tsan
	@scripts/valgrind

# BENCH="--quick", BENCH="--against main", ...: bench/run says what there is. It keeps figures in the source tree, and builds there.
bench: setup-test
	@cmake --preset release >/dev/null
	@cmake --build build -j $(JOBS)
	@bench/run $(BENCH)

# The pictures of docs/stability.md.
figures: build
	@YOKE_PROGRAM="$(YOKE_BUILD)/yoke" scripts/figures "$(YOKE_BUILD)/figures"

fuzz: setup-all
	@scripts/fuzz $(FUZZ_SECONDS)

soak: build
	@scripts/soak $(SOAK_MINUTES)

install: build
	@DESTDIR="$(DESTDIR)" cmake --install "$(YOKE_BUILD)" --prefix "$(PREFIX)"

uninstall:
	@DESTDIR="$(DESTDIR)" scripts/uninstall "$(PREFIX)"

format: setup-test
	@$(SOURCES) | xargs clang-format -i

check-format: setup-test
	@$(SOURCES) | xargs clang-format --dry-run --Werror

tidy: setup-all build
	@find src cli -name '*.c' | xargs -P $(JOBS) -n 1 clang-tidy --quiet -p "$(YOKE_BUILD)" 2>&1 | { grep -v 'warnings\? generated' || true; }

clean:
	@rm -rf "$(YOKE_BUILD)" "$(YOKE_BUILD)"-*
