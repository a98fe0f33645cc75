# Housekeeping. `make help` lists the targets; `make check` is all that CI runs.
SHELL := /bin/bash -o pipefail
.DEFAULT_GOAL := help
.PHONY: help build test race check lint format arch contract golden record generate licenses vulncheck bench sizes fuzz e2e obedience faults faults-nightly yardsticks

GO       ?= go
TOOL     := $(GO) tool -modfile=internal/tools/go.mod
UNTOUCHED := internal/tools/untouched
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
FUZZTIME ?= 60s

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "  %-15s %s\n", $$1, $$2}'

build: ## bin/pexctl, with its version inside
	$(GO) build -trimpath -ldflags '-s -w -X github.com/pexctl/pex/internal/app/version.stamped=$(VERSION)' -o bin/pexctl ./cmd/pexctl

test: ## all tests, plainly
	$(GO) test ./...

# SHORT=-short leaves out tests with one goroutine and shortens repetitive ones: make test has run all of them, and the race
# detector sees no more in the tenth round than in the second.
race: ## all tests that use goroutines, under the race detector (half an hour); make race SHORT=-short as make check does
	$(RACE) $(SHORT) -timeout 60m $$(internal/tools/concurrent)

check: ## everything CI wants: format, vet, lint, all tests plainly, those with goroutines under the race detector, goldens, generated files
	@$(MAKE) --no-print-directory format
	@$(UNTOUCHED) "a test wrote into the tree: write goldens with make golden, all else into t.TempDir()" \
		$(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory lint
	@$(UNTOUCHED) "a test wrote into the tree under -race: write goldens with make golden, all else into t.TempDir()" \
		$(MAKE) --no-print-directory race SHORT=-short
	$(UNTOUCHED) "generated files were stale; they are written now: commit them" \
		$(MAKE) --no-print-directory generate

format: ## show what gofumpt would change (make format WRITE=1 changes it)
ifdef WRITE
	$(TOOL) gofumpt -w .
else
	@diff=$$($(TOOL) gofumpt -d .) || exit 1; [ -z "$$diff" ] || { echo "$$diff"; echo "make format WRITE=1 mends it"; exit 1; }
endif

# The tag faults changes a package that all others import: only its own files are linted with it, the others are not compiled again.
lint: ## golangci-lint with .golangci.yml; its govet is go vet
	$(TOOL) golangci-lint run ./...
	$(TOOL) golangci-lint run --build-tags faults $(FAULTS)

arch: ## layout and imports against docs/architecture.md
	$(GO) test -count=1 ./internal/archtest

contract: ## the language's contract cases, through the real binary
	$(GO) test -count=1 -run '^TestContract' -v ./cmd/pexctl

# A plain build shares all compiled packages with go test; the flags of make build would compile everything again.
yardsticks: ## score pexctl on public suites: make yardsticks DIR=folder with the suites
	@[ -n "$(DIR)" ] || { echo 'make yardsticks DIR=folder'; exit 2; }
	$(GO) build -o bin/pexctl ./cmd/pexctl
	internal/tools/yardsticks bin/pexctl "$(DIR)"

golden: ## rewrite the golden files of all tests; read the diff as code
	env -u CI PEX_GOLDEN=update $(GO) test -count=1 ./...
	@git status --short | grep -E 'testdata|golden' || echo "no golden changed"

record: ## record the HTTP exchanges of a provider again: make record PROVIDER=openai, with its key, or FROM=aimock or ollama
	@[ -n "$(PROVIDER)" ] || { echo 'make record PROVIDER=openai [FROM=aimock|ollama]'; exit 2; }
	@[ -z "$(FROM)" ] || internal/e2e/setup.sh $(FROM) >/dev/null
	PEX_RECORD=$(PROVIDER) FROM=$(FROM) $(GO) test -count=1 -tags e2e -run '^TestRecord$$' -timeout 20m -v ./internal/e2e
	@git status --short -uall providers | grep /exchanges/ || echo "no recording changed"

generate: ## rewrite the reference pages, the editor schema and the graph pictures
	@mkdir -p bin
	$(GO) run ./cmd/pexctl docs docs/reference specs/*/
	$(GO) run ./cmd/pexctl schema > bin/pex.schema.json && mv bin/pex.schema.json specs/pex.schema.json

licenses: ## write THIRD_PARTY_LICENSES for the modules that pexctl links on Linux, macOS and Windows
	@mkdir -p bin
	$(GO) run ./internal/licenses > bin/licenses && mv bin/licenses THIRD_PARTY_LICENSES

# Needs the database at vuln.go.dev, or VULNDB=file:///folder with a copy. govulncheck exits with 3 where it finds something.
vulncheck: ## known vulnerabilities in code that pexctl calls (needs the network, or VULNDB=file:///folder)
	@code=0; $(TOOL) govulncheck -db='$(VULNDB)' ./cmd/pexctl || code=$$?; \
		[ $$code = 0 ] || [ $$code = 3 ] || echo 'vulncheck did not run to its end; without a network: make vulncheck VULNDB=file:///folder'; exit $$code

VULNDB ?= https://vuln.go.dev

bench: ## all benchmarks, then those that docs/performance.md names
	@mkdir -p bin
	$(GO) test -run '^$$' -bench . -benchmem ./... | tee bin/bench.txt
	@internal/tools/named-benchmarks docs/performance.md bin/bench.txt

sizes: ## the binary without each provider family, and its cold start
	internal/tools/sizes

fuzz: ## every fuzz target for FUZZTIME (60s) each
	@GO='$(GO)' internal/tools/fuzz-all $(FUZZTIME)

e2e: ## against real servers: Ollama with a tiny model, and aimock (set up on first use, some minutes)
	internal/e2e/setup.sh
	$(GO) test -count=1 -tags e2e -run '^TestE2E' -timeout 20m -v ./cmd/pexctl ./internal/e2e ./builtins/tool ./builtins/report/html

faults: ## pull the plug: 500 kills and one at every failpoint, full disk, damaged files, signals (some minutes; Linux, root or unshare)
	$(SMALLDISK) env PEX_FAULTS_KILLS=$(KILLS) $(GO) test -count=1 -tags faults -timeout 3h -v ./internal/faults | $(FIGURES)
	PEX_TEST_CUTS=0 PEX_TEST_PAIRS=1000 $(GO) test -count=1 -timeout 30m -v -run '$(HOUSETESTS)' ./cmd/pexctl | $(FIGURES)

obedience: ## 10,000 random runs of models that obey whatever they read (some minutes)
	PEX_OBEDIENCE_RUNS=10000 $(GO) test -count=1 -timeout 30m -v ./internal/obedience

faults-nightly: ## the same with 5,000 kills
	@$(MAKE) --no-print-directory faults KILLS=5000

KILLS ?= 500
FAULTS := ./engine/failpoint ./internal/faults
# A process of the race detector sleeps for a second at its end if it is not told otherwise.
RACE := GORACE=atexit_sleep_ms=0 $(GO) test -race -shuffle=on -vet=off
# A disk of 128 MB wants a mount: as root, or in a namespace where one is root.
SMALLDISK := $(shell [ "$$(id -u)" = 0 ] || echo unshare -rm)
HOUSETESTS := ^(TestARunThatDiesAnywhereComesToTheSameEnd|TestOfTwoRacingDecisionsOneCounts)$$
FIGURES := grep --line-buffered -vE '^(=== |PASS$$)|^ +(--- |[a-z_]+_test\.go:[0-9]+: its tool)'
