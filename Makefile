# Thin: each target installs what is missing, configures once and calls CMake; the presets in
# CMakePresets.json hold the settings.
#
#   make                 build/release/bin/cairn
#   make demo            breadth-first search on a generated graph, or on a file: GRAPH=path make demo
#   make examples        build/release/examples/
#   make test            every test, in a build with all checks on
#   make bench           the short benchmarks           make soak    the long tests and benchmarks
#   make fuzz SECONDS=60   each reader by libFuzzer for so long, with clang from tools/clang_packages.txt
#   make figures [GRAPHS=folder]   runs the figures of the papers, build/release/bench/figures/index.html
#   make figures ONLY="NAME..." FORM=long   some of them, by their full sweeps
#   make lab             Cairn over slow links between hosts that this machine plays; needs root
#   make peers PEERS=folder of GAP's programs [GRAPHS=folder]   one table of GAP's times over Cairn's
#   make format          formats the sources            make clean   removes build/
#   make help            prints these lines
#   make install PREFIX=/usr/local

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
SECONDS ?= 60
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)
export GRAPH

.PHONY: cairn help demo examples test bench figures peers lab soak fuzz format install clean packages
.DELETE_ON_ERROR:

cairn: build/release/build.ninja
	@cmake --build build/release -j $(JOBS) --target cairn_cli

help:
	@sed -n "s/^#   //p" Makefile

demo: cairn
	@if [ -n "$$GRAPH" ]; then set -- "$$GRAPH"; else set -- --kronecker 20; fi; \
	  echo "cairn bfs $$* --verify"; build/release/bin/cairn bfs "$$@" --verify

examples: build/release/build.ninja
	@cmake --build build/release -j $(JOBS) --target cairn_examples

test: build/release-checks/build.ninja
	@cmake --build build/release-checks -j $(JOBS)
	@ctest --preset release-checks -j $(JOBS); status=$$?; tools/skipped_tests build/release-checks; exit $$status

bench: build/release/build.ninja
	@cmake --build build/release -j $(JOBS) --target bench

soak: build/release-checks/build.ninja build/release/build.ninja
	@cmake --build build/release-checks -j $(JOBS) --target soak
	@cmake --build build/release -j $(JOBS) --target soak

fuzz: packages
	@tools/install_packages tools/clang_packages.txt
	@test -f build/fuzz/build.ninja || cmake --preset fuzz
	@cmake --build build/fuzz -j $(JOBS) --target cairn_fuzz
	@tests/fuzz/run build/fuzz $(SECONDS) $(TARGETS)

figures: build/release/build.ninja
	$(if $(filter-out short long,$(FORM)),$(error FORM is $(FORM): expected short or long))
ifdef ONLY
	@for name in $(ONLY); do test -f bench/figures/$$name.py || \
	  { echo "make figures: there is no bench/figures/$$name.py" >&2; exit 2; }; done
	@cmake --build build/release -j $(JOBS) --target $(ONLY:%=bench_%)
	@$(PYTHON) bench/figures/report.py --form $(or $(FORM),short) --only $(ONLY)
else
	@cmake --build build/release -j $(JOBS) --target figures$(if $(filter long,$(FORM)),_long)
endif

peers: cairn
	@bench/peer_table "$(PEERS)" $(if $(GRAPHS),--graphs "$(GRAPHS)")

lab: build/release/build.ninja
	@cmake --build build/release -j $(JOBS) --target lab
	@bench/lab_table

install: build/release/build.ninja
	@if [ "$(realpath $(PREFIX))" = "$(CURDIR)" ]; then \
	  echo "make install: PREFIX is the folder of the sources" >&2; exit 2; fi
	@cmake -S . -B build/release -DCMAKE_INSTALL_PREFIX="$(PREFIX)" >/dev/null
	@cmake --build build/release -j $(JOBS) --target cairn_cli
	@cmake --install build/release

format: packages
	@git ls-files -z -- '*.hpp' '*.cpp' '*.c' | xargs -0 clang-format -i

clean:
	@cmake -E rm -rf build

# Configured once: after that ninja sees by itself what changed.
build/%/build.ninja: CMakePresets.json | packages
	@cmake --preset $*

packages:
	@tools/install_packages
