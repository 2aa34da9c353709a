# evalengine: build, try, test, measure.
#
#   make build   bin/evalengine with the plugins beside it
#   make demo    the quickstart suite, no key and no network needed
#   make test    everything; installs what the tests need

SHELL      := /bin/bash
GO         ?= go
BIN        := bin
GOFLAGS_   := -trimpath
PLUGINS    := $(notdir $(wildcard plugins/evalengine-*))
NPM_CI     := npm ci --no-audit --no-fund --loglevel=error
NPMTEST    := engine/internal/npmtest
TIMEOUT    ?= 30m

.PHONY: all build scorers demo test race bench fuzz lint generate check-generated npm-test clean help

all: build

help:
	@sed -n 's/^#   //p' Makefile

## build

# Every program at once: one link each, shared packages compiled once.
build: scorers
	@mkdir -p $(BIN)
	$(GO) build $(GOFLAGS_) -o $(BIN)/ . ./plugins/evalengine-...  ./examples/sitebuilder ./examples/scripted-model

# The built-in scorer modules, compiled to WebAssembly and pre-initialised.
scorers:
	$(GO) run ./scorers/build

## try

demo: build
	@$(BIN)/evalengine run examples/quickstart/suite.hcl; code=$$?; \
	if [ $$code -eq 1 ]; then echo; echo "Failed trials are part of the demo: exit code 1 is a verdict, not a fault."; exit 0; fi; exit $$code

## test

test: build npm-test lint
	EVALENGINE_TEST_BIN=$(CURDIR)/$(BIN) $(GO) test -timeout $(TIMEOUT) ./...

race: build npm-test
	$(GO) test -race -timeout 60m ./...

# The real agent command lines and MCP servers that the tests drive.
npm-test: $(NPMTEST)/node_modules/.installed

$(NPMTEST)/node_modules/.installed: $(NPMTEST)/package-lock.json
	cd $(NPMTEST) && $(NPM_CI)
	@touch $@

bench: build
	$(GO) test -run '^$$' -bench . -benchmem ./engine/... ./scorers/... ./plugins/... ./examples/...

FUZZTIME ?= 30s
fuzz:
	@set -e; for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "$$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$pkg; \
	  done; \
	done

## check

TOOL := $(GO) tool -modfile=proto/tools/go.mod

lint:
	@out=$$(gofmt -l $$(git ls-files '*.go' 2>/dev/null || find . -name '*.go')); if [ -n "$$out" ]; then echo "not gofmt'ed:"; echo "$$out"; exit 1; fi
	$(GO) vet ./...
	cd proto && $(GO) tool -modfile=tools/go.mod buf lint && $(GO) tool -modfile=tools/go.mod buf breaking --against baseline.binpb

# Go and JSON Schemas from the protos; committed.
generate:
	proto/generate.sh $(BIN)/proto

check-generated: generate
	git diff --exit-code -- proto

clean:
	rm -rf $(BIN) scorers/dist/*.wasm
