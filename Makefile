# Sayso. `make help` lists what there is to do.

export SAYSO_DATA ?= ./data
# SQLite has full-text search only when it is compiled with this tag. Without it everything works but searching, which says so.
export GOFLAGS := $(filter-out -tags=sqlite_fts5,$(GOFLAGS)) -tags=sqlite_fts5
GO       ?= go
STATICCHECK = $(GO) tool -modfile=tools.mod staticcheck

.PHONY: run demo test check dev bench fuzz audit generate help programs

run: bin/sayso ## build what is missing and serve on http://127.0.0.1:7777
	bin/sayso serve

demo: bin/sayso ## play an agent that asks, in a second terminal
	bin/sayso demo

.PHONY: bin/sayso
bin/sayso:
	@[ -e $@ ] || echo "building; the first time takes about two minutes, since SQLite is compiled"
	@$(GO) build -o $@ ./cmd/sayso

test: programs ## everything, browser tests included
	$(GO) test -race -timeout 20m ./...

programs: # what the tests drive
	@.ci/programs

check: ## the fast part: vet, staticcheck, generated code, tests without browsers and Node
	$(GO) vet ./...
	$(STATICCHECK) ./...
	$(GO) tool templ generate -log-level error && git diff --exit-code -- '*_templ.go'
	SAYSO_SKIP=browser,node $(GO) test ./...

dev: ## serve, and rebuild on change; shows every component at /gallery
	$(GO) tool templ generate --watch --cmd="$(GO) run ./cmd/sayso serve --dev"

bench: ## the figures of docs/performance.md (15 minutes; QUICK=1: three)
	$(GO) run ./internal/bench

FUZZTIME ?= 10s
fuzz: ## every fuzz target for FUZZTIME
	@for package in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz'); do \
	    $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$package || exit 1; \
	  done; \
	done

audit: ## known faults and licences of what we build with (fetches the list of faults)
	@.ci/audit

generate: node_modules ## everything that is generated: pages, style sheet, vendored scripts, manual of the commands
	$(GO) tool templ generate -log-level error
	npm run --silent vendor
	npm run --silent css
	$(GO) run ./internal/cli/reference > docs/cli.md.new && mv docs/cli.md.new docs/cli.md

node_modules: package-lock.json
	npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

checkers = internal/mcp/testdata/checkers
$(checkers)/node_modules: $(checkers)/package-lock.json
	npm ci --prefix $(checkers) --ignore-scripts --no-audit --no-fund
	@touch $@

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
