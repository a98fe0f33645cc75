# `make help` lists the targets; `make check` is all that CI runs.
SHELL := /bin/bash -o pipefail
.DEFAULT_GOAL := help
.PHONY: help build test race check lint format arch contract golden record generate images licenses vulncheck bench bench-peers sizes fuzz e2e e2e-clients e2e-serve e2e-telemetry e2e-temporal drivers faults-temporal e2e-ui sdk injection faults faults-nightly yardsticks

GO       ?= go
TOOL     := $(GO) tool -modfile=internal/tools/go.mod
UNTOUCHED := internal/tools/untouched
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
FUZZTIME ?= 60s
ROUNDS   ?= 7

help: ## show this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "  %-15s %s\n", $$1, $$2}'

build: ## build bin/pexctl with its version
	$(GO) build -trimpath -ldflags '-s -w -X github.com/pexctl/pex/internal/app/version.stamped=$(VERSION)' -o bin/pexctl ./cmd/pexctl

test: ## run all tests
	$(GO) test ./...

# SHORT=-short skips tests with a single goroutine and shortens loops: `make test` has run them in full, and the race detector
# finds no more in the tenth iteration than in the second.
race: ## run tests that use goroutines under the race detector (30 minutes; make check uses SHORT=-short)
	$(RACE) $(SHORT) -timeout 60m $$(internal/tools/concurrent)

check: ## run everything CI runs: format, tests, lint, race detector, generated files
	@$(MAKE) --no-print-directory format
	@$(UNTOUCHED) "a test changed files in the repository: write golden files with make golden, everything else to t.TempDir()" \
		$(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory lint
	@$(UNTOUCHED) "a test under -race changed files in the repository: write golden files with make golden, everything else to t.TempDir()" \
		$(MAKE) --no-print-directory race SHORT=-short
	$(UNTOUCHED) "generated files were out of date and have been updated: commit them" \
		$(MAKE) --no-print-directory generate

format: ## show what gofumpt would change (WRITE=1 applies it)
ifdef WRITE
	$(TOOL) gofumpt -w .
else
	@diff=$$($(TOOL) gofumpt -d .) || exit 1; [ -z "$$diff" ] || { echo "$$diff"; echo "to fix: make format WRITE=1"; exit 1; }
endif

# The tag faults changes a package that all others import, so only the packages with that tag are linted with it.
lint: ## run golangci-lint, including go vet
	$(TOOL) golangci-lint run ./...
	$(TOOL) golangci-lint run --build-tags faults $(FAULTS)

arch: ## check layout and imports against docs/architecture.md
	$(GO) test -count=1 ./internal/archtest

contract: ## run the contract cases of the language with the real binary
	$(GO) test -count=1 -run '^TestContract' -v ./cmd/pexctl

# A plain build shares compiled packages with go test; the flags of make build would compile everything again.
yardsticks: ## score pexctl on public test suites: make yardsticks DIR=folder
	@[ -n "$(DIR)" ] || { echo 'make yardsticks DIR=folder'; exit 2; }
	$(GO) build -o bin/pexctl ./cmd/pexctl
	internal/tools/yardsticks bin/pexctl "$(DIR)"

golden: ## rewrite all golden files; review the diff like code
	env -u CI PEX_GOLDEN=update $(GO) test -count=1 ./...
	@git status --short | grep -E 'testdata|golden' || echo "no golden changed"

record: ## record the HTTP exchanges of a provider: make record PROVIDER=openai, with its key, or FROM=aimock or ollama
	@[ -n "$(PROVIDER)" ] || { echo 'make record PROVIDER=openai [FROM=aimock|ollama]'; exit 2; }
	@[ -z "$(FROM)" ] || internal/e2e/setup.sh $(FROM) >/dev/null
	PEX_RECORD=$(PROVIDER) FROM=$(FROM) $(GO) test -count=1 -tags e2e -run '^TestRecord$$' -timeout 20m -v ./internal/e2e
	@git status --short -uall providers | grep /exchanges/ || echo "no recording changed"

generate: ## rewrite the reference pages, the JSON Schema and the graph images
	@mkdir -p bin
	$(GO) run ./cmd/pexctl docs docs/reference specs/*/
	$(GO) run ./cmd/pexctl schema > bin/pex.schema.json && mv bin/pex.schema.json specs/pex.schema.json

images: VERSION = dev
images: build ## take the screenshots of the docs, and record the terminal of README.md (needs Chromium)
	@mkdir -p docs/images
	PATH="$(CURDIR)/bin:$$PATH" internal/tools/terminal-svg 100 pexctl run specs/log-triage > bin/run.svg && mv bin/run.svg docs/images/run.svg
	internal/tools/screenshots bin/pexctl docs/images

licenses: ## write THIRD_PARTY_LICENSES for the modules linked on Linux, macOS and Windows
	@mkdir -p bin
	$(GO) run ./internal/licenses > bin/licenses && mv bin/licenses THIRD_PARTY_LICENSES

# Uses the database at vuln.go.dev, or a copy: VULNDB=file:///folder. govulncheck exits with 3 if it finds something.
vulncheck: ## report known vulnerabilities in code that pexctl calls (needs the network, or VULNDB=file:///folder)
	@code=0; $(TOOL) govulncheck -db='$(VULNDB)' ./cmd/pexctl || code=$$?; \
		[ $$code = 0 ] || [ $$code = 3 ] || echo 'vulncheck failed; without a network: make vulncheck VULNDB=file:///folder'; exit $$code

VULNDB ?= https://vuln.go.dev

bench: ## run all benchmarks, and check that those in docs/performance.md exist
	@mkdir -p bin
	$(GO) test -run '^$$' -bench . -benchmem ./... | tee bin/bench.txt
	@internal/tools/named-benchmarks docs/performance.md bin/bench.txt

bench-peers: ## compare the engine with other libraries on the same work, for benchstat (ROUNDS=7)
	@mkdir -p bin
	cd internal/e2e/peers && $(GO) vet . && $(GO) test -count=1 . && $(GO) run . -rounds $(ROUNDS) | tee $(CURDIR)/bin/bench-peers.txt

sizes: ## measure the binary and its cold start without each provider
	internal/tools/sizes

fuzz: ## run every fuzz target for FUZZTIME (60s)
	@GO='$(GO)' internal/tools/fuzz-all $(FUZZTIME)

e2e: ## test against real servers: Ollama with a tiny model, aimock, PostgreSQL, OpenTelemetry Collector, Prometheus (set up on first use, some minutes)
	internal/e2e/setup.sh
	$(GO) test -count=1 -tags e2e -run '^TestE2E' -timeout 20m -v ./cmd/pexctl ./internal/e2e ./builtins/tool ./builtins/report/html ./providers/postgres

e2e-telemetry: ## test traces and metrics with the OpenTelemetry Collector and Prometheus only (2 minutes)
	internal/e2e/setup.sh collector prometheus
	$(GO) test -count=1 -tags e2e -run '^TestE2ETelemetry' -timeout 20m -v ./internal/e2e

e2e-temporal: ## test against a real Temporal server (2 minutes; 8 CPU minutes to build the server on first use)
	internal/e2e/setup.sh temporal
	$(GO) test -count=1 -tags e2e -run '^TestE2E' -timeout 20m -v ./internal/temporaltest ./providers/temporal/...

drivers: ## compare runs as workflows of Temporal with local ones: journals and results byte by byte (1 minute)
	$(GO) test -count=1 -v -run 'TestDriversAgree$$' ./cmd/pexctl | tail -3
	$(GO) test -count=1 -run 'Elsewhere|LostEffects|WorkersAlwaysEnd|WorkersEnd' ./engine/runtime

faults-temporal: ## kill workers of a Temporal namespace every 2 seconds, and the server three times: 200 runs, 40,000 writes (10 minutes; Linux)
	internal/e2e/setup.sh temporal
	$(GO) test -count=1 -tags e2e -run '^TestE2E' -timeout 40m -v ./internal/fleettest

e2e-clients: ## test pexctl serve with the clients that people use, from npm (needs Node.js; set up on first use)
	internal/e2e/setup.sh clients
	$(GO) test -count=1 -tags e2e -run '^TestClients' -timeout 20m -v ./internal/e2e/clients

e2e-serve: ## test pexctl serve with killed servers, thousands of watchers, races, full disks and generated requests (some minutes; Linux, root or unshare)
	$(SMALLDISK) $(GO) test -count=1 -tags e2e -timeout 30m -v ./internal/servetest | $(FIGURES)
	PEX_API_FUZZ=5m $(GO) test -count=1 -v -run TestGeneratedRequests ./internal/apitest | $(FIGURES)

e2e-ui: ## test the pages of pexctl serve in Chromium (SCREENSHOTS=folder stores pictures)
	$(GO) test -count=1 -tags e2e -timeout 10m -v ./internal/uitest | $(FIGURES)

sdk: ## compare the requests of openai and anthropic with those of the vendors' SDKs (compiling them takes 3 GB of memory)
	cd internal/e2e/vendorsdk && $(GO) vet ./... && $(GO) test -count=1 ./...

faults: ## crash tests: 500 kills and every failpoint, full disk, damaged files, signals (some minutes; Linux, root or unshare)
	$(SMALLDISK) env PEX_CRASH_KILLS=$(KILLS) $(GO) test -count=1 -tags faults -timeout 3h -v ./internal/crashtest | $(FIGURES)
	PEX_TEST_CUTS=0 PEX_TEST_PAIRS=1000 $(GO) test -count=1 -timeout 30m -v -run '$(HOUSETESTS)' ./cmd/pexctl | $(FIGURES)

injection: ## prompt injection tests: 10,000 random runs of a model that obeys everything it reads (some minutes)
	PEX_INJECTION_RUNS=10000 $(GO) test -count=1 -timeout 30m -v ./internal/injectiontest

faults-nightly: ## crash tests with 5,000 kills
	@$(MAKE) --no-print-directory faults KILLS=5000

KILLS ?= 500
FAULTS := ./engine/failpoint ./internal/crashtest
# By default, a process under the race detector sleeps for a second before it exits.
RACE := GORACE=atexit_sleep_ms=0 $(GO) test -race -shuffle=on -vet=off
# Mounting a 128 MB disk requires root, or a user namespace.
SMALLDISK := $(shell [ "$$(id -u)" = 0 ] || echo unshare -rm)
HOUSETESTS := ^(TestKilledRunsResumeToTheSameOutcome|TestOneOfTwoRacingDecisionsCounts)$$
FIGURES := grep --line-buffered -vE '^(=== |PASS$$)|^ +(--- |[a-z_]+_test\.go:[0-9]+: its tool)'
