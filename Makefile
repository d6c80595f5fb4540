# What one does with this repository, a word each. `make` alone builds.

# Pinned, so that a verdict on the code changes only with the code.
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
BENCHTIME   = 1s
FUZZTIME    = 10s

.PHONY: build run test race lint fmt vet staticcheck fuzz bench cross ci

build: ## the command, as ./rlbench
	go build -o rlbench ./cmd/rlbench

run: ## the first verdict: with nothing else installed, an embedded server serves
	go run ./cmd/rlbench run scenarios/race.yaml

test: ## all tests; has the servers ready where it can, lists what it skipped
	.ci/test -count=1

race: ## all tests under the race detector (needs a C compiler)
	.ci/test -count=1 -race

lint: fmt vet staticcheck

fmt:
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "not gofmt:" $$unformatted; exit 1; }

vet:
	go vet ./...

staticcheck:
	go run $(STATICCHECK) ./...

fuzz: ## every fuzz target for FUZZTIME
	.ci/fuzz $(FUZZTIME)

bench: ## every benchmark; BENCHTIME=1x runs each once
	go test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) ./...

cross: ## does it compile for the other systems that are released?
	CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 go vet ./...
	CGO_ENABLED=0 GOOS=windows GOARCH=amd64 go vet ./...

ci: ## all that must hold before a change lands
	.ci/run
