# evalengine: build, try, test, measure.
#
#   make build   bin/evalengine with the plugins beside it
#   make demo    the quickstart suite, no key and no network needed
#   make emdash  the stories on EmDash; installs it from npm, 600 MB
#   make test    everything; installs what the tests need
#   make race    the same under the race detector
#   make fuzz    every fuzz function for FUZZTIME (30s)

SHELL      := /bin/bash
GO         ?= go
BIN        := bin
GOFLAGS_   := -trimpath
PLUGINS    := $(notdir $(wildcard plugins/evalengine-*))
NPM_CI     := npm ci --no-audit --no-fund --loglevel=error
NPMTEST    := engine/internal/npmtest
TIMEOUT    ?= 30m

.PHONY: all build scorers demo emdash test race browser bench fuzz lint generate check-generated npm-test clean help

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

# A site in Node.js for every trial. The right scripts all pass, the careless ones
# all fail.
emdash: build browser
	@stories/emdash/target/install.sh
	$(BIN)/evalengine run stories/emdash --host scripted -j 2
	$(BIN)/evalengine run stories/emdash --host careless -j 2 -o $(BIN)/careless.txt; [ $$? -eq 1 ]
	@grep -q 'trials: 4 failed' $(BIN)/careless.txt

## test

# The hostile pages by themselves: they and the real agents would take the time
# from each other that both are bounded in.
test: build npm-test browser lint
	$(GO) test -timeout $(TIMEOUT) ./engine/internal/capture
	EVALENGINE_TEST_BIN=$(CURDIR)/$(BIN) $(GO) test -p 1 -timeout $(TIMEOUT) $$($(GO) list ./... | grep -v engine/internal/capture)

# A package at a time: under the detector those with deadlines would otherwise
# get in each other's way. The programs that tests start are built with the
# detector too; a race in any process of theirs is written to RACES.
RACE  := $(CURDIR)/$(BIN)/race
RACES := $(RACE)/races
race: build npm-test browser
	@mkdir -p $(RACE) $(RACES) && rm -f $(RACES)/*
	$(GO) build -race $(GOFLAGS_) -o $(RACE)/ . ./plugins/evalengine-... ./examples/sitebuilder ./examples/scripted-model
	EVALENGINE_TEST_BIN=$(RACE) GORACE="halt_on_error=1 exitcode=66 log_path=$(RACES)/race" $(GO) test -race -p 1 -timeout 60m ./...; \
	  code=$$?; cat $(RACES)/* 2>/dev/null && exit 1; exit $$code

# The real agent command lines and MCP servers that the tests drive.
npm-test: $(NPMTEST)/node_modules/.installed

$(NPMTEST)/node_modules/.installed: $(NPMTEST)/package-lock.json
	cd $(NPMTEST) && $(NPM_CI)
	@touch $@

# The browser that pages are taken with, where there is none.
BROWSERS := chromium chromium-browser google-chrome-stable google-chrome chrome
browser:
	@for b in $(BROWSERS); do command -v $$b >/dev/null && exit 0; done; \
	if command -v apt-get >/dev/null; then \
	  sudo=; [ "$$(id -u)" -eq 0 ] || sudo=sudo; \
	  $$sudo apt-get update -qq && $$sudo apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; \
	else echo "the tests drive a browser: install Chromium or Google Chrome"; exit 1; fi

bench: build
	$(GO) test -run '^$$' -bench . -benchmem ./engine/... ./scorers/... ./plugins/... ./examples/...

# One fuzz function after the other, each for FUZZTIME, in the packages that have
# any. Inputs are minimised a little only: it would take longer than the search.
FUZZTIME ?= 30s
FUZZ     := $(shell grep -rl --include='*_test.go' '^func Fuzz' engine examples plugins scorers | xargs -r dirname | sort -u)
fuzz:
	@set -e -o pipefail; for dir in $(FUZZ); do \
	  for f in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' $$dir/*_test.go); do \
	    printf '%-60s ' "$$dir $$f"; \
	    $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x ./$$dir 2>&1 \
	      | awk '{ all = all $$0 "\n" } /execs:/ { sub(/.*execs: /, ""); last = $$0 } /^FAIL|^--- FAIL/ { bad = 1 } \
	             END { if (bad) { printf "failed\n%s", all; exit 1 } print last " executions" }'; \
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
