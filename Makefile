# `make` lists what there is to do. Everything here needs only Go, except where its line says otherwise.
# Works with GNU Make 3.81 and later.

GO       ?= go
FUZZTIME ?= 20s
BIN      := $(abspath .cache/bin)

# Linters are taken from .cache/bin, where `make deps` puts them.
export PATH := $(BIN):$(PATH)

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-24s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: run
run: ## run the demo: elections, faults and a replayed log, on a ZooKeeper in memory, each step checked
	$(GO) run ./cmd/demo

.PHONY: install
install: ## build the operators' program, incumbent, and put it where go install puts programs
	@dir=$$($(GO) env GOBIN); [ -n "$$dir" ] || dir=$$($(GO) env GOPATH)/bin; dir=$${dir%%:*}; mkdir -p "$$dir" && \
	$(GO) build -trimpath -o "$$dir/incumbent$$($(GO) env GOEXE)" ./cmd/incumbent && echo "installed $$dir/incumbent$$($(GO) env GOEXE)"

# The build cache must not decide: -count=1 runs every test, every time. The level decides how much of a test is run: see
# test/kit/selection. Processes and servers keep a package waiting, so several run at a time, also on two cores, the longest first. Nothing is vetted, as make
# lint does that, and binaries have no debug information: they link faster.
# The race detector needs cgo. What a test builds must do without: else everything is compiled once more.
PURE := -exec="env CGO_ENABLED=0"
.PHONY: quick test prove race loaded plain combinations
quick: ## what to run while working: every test without real servers, of the long ones a small part; about two minutes
	@CGO_ENABLED=0 INCUMBENT_LEVEL=quick $(GO) run ./test/kit/tally -count=1 -p 6 -vet=off -ldflags=-w $(ARGS) ./...
test: ## every test of every module, of the longest ones a part, without cgo; the last line names what was not run
	@CGO_ENABLED=0 INCUMBENT_LEVEL=test $(GO) run ./test/kit/tally -count=1 -p 6 -vet=off -ldflags=-w $(ARGS) ./...
prove: ## every test in full, and those of the library with the race detector too; needs make deps
	@CGO_ENABLED=1 INCUMBENT_LEVEL=prove $(GO) run ./test/kit/tally -race $(PURE) -count=1 -p 6 -vet=off -ldflags=-w $(ARGS) ./...
race: ## every test with the race detector, of the long ones a small part; needs a C compiler
	@CGO_ENABLED=1 INCUMBENT_LEVEL=test $(GO) run ./test/kit/tally -race $(PURE) -count=1 $(ARGS) ./...
# Four times the limits of .ci/run: its longest step has 35 minutes, a package of test/kit/tally 30.
loaded: ## the full proof while the machine is busy and test processes are stopped at random (ARGS='-run X'); Linux, needs make deps
	INCUMBENT_REQUIRE=all $(GO) run ./test/kit/loaded -seed $(SEED) timeout 140m $(MAKE) --no-print-directory prove ARGS='-timeout 120m $(ARGS)'
OFF ?= all
plain: ## the door, every recipe and a few worlds of test/worlds/wire on a ZooKeeper in memory, with all of Config.Disable, or OFF=IdleSyncs,OneFlight
	@CGO_ENABLED=0 INCUMBENT_REQUIRE= INCUMBENT_PLAIN=$(OFF) INCUMBENT_LEVEL=quick $(GO) test -count=1 $(ARGS) . ./test/door ./test/servers/suite ./test/worlds/wire
combinations: ## the same, with each combination of Config.Disable
	@for off in IdleSyncs OneFlight RecursiveWatches IdleSyncs,OneFlight IdleSyncs,RecursiveWatches \
	OneFlight,RecursiveWatches all; do \
	echo "without $$off" && $(MAKE) --no-print-directory plain OFF=$$off || exit 1; done

.PHONY: golden
golden: ## write the golden traces and the simulation's digests anew; read the diff before committing it
	cd machines && $(GO) test -count=1 -run TestTraces -rewrite # in its folder, so that what changed in meaning is printed
	$(GO) test ./machines -count=1 -run TestTraces
	$(GO) test ./test/worlds/sim -count=1 -run TestDigests -rewrite

.PHONY: api
api: ## write the listings of the API in docs/api anew; read the diff before committing it
	$(GO) test ./test/house -count=1 -run TestTheAPI -rewrite

.PHONY: licences
licences: ## write THIRD_PARTY.md anew: the licences of what the library and the program link; read the diff before committing it
	$(GO) test ./test/figures/embed -count=1 -run TestThirdPartyLicences -args -rewrite

.PHONY: charts
charts: ## draw docs/statecharts from the charts that run
	$(GO) run ./cmd/gencharts

.PHONY: story-cut-off-follower
story-cut-off-follower: ## two leaders at once, and why not here: three real servers lose each other; needs make deps
	@$(GO) test ./test/servers/story -count=1 -timeout 30m -v -run TestNobodyBelievesTwice -full $(ARGS)

SEED ?= 1
KILLS ?= 1000
WORLDS ?= 100000
N    ?= 1000000
.PHONY: sim soak plants small kills worlds wire wire-plants mutants
sim: ## run the simulated world SEED, tell its story, and write each client's log for incumbent replay
	@$(GO) run ./test/worlds/sim/cmd -seed $(SEED) $(ARGS)
soak: ## run N simulated worlds from the seed SEED on
	$(GO) test ./test/worlds/sim -count=1 -timeout 24h -v -run 'TestWorlds$$' -args -worlds $(N) -first $(SEED) $(ARGS)
plants: ## search for every bug planted in the simulation (or ARGS='-only EXPR'), and write test/worlds/sim/testdata/plants.tsv
	$(GO) test ./test/worlds/sim -count=1 -timeout 6h -v -run TestPlants -plants $(ARGS)
wire: ## play the world SEED with real clients on a network in memory, and print its story
	@$(GO) test ./test/worlds/wire -count=1 -v -run 'TestWorlds$$' -args -seed $(SEED) $(ARGS)
wire-plants: ## search for every bug planted in the clients (or ARGS='-only EXPR'), and write test/worlds/wire/testdata/plants.tsv
	$(GO) test ./test/worlds/wire -count=1 -timeout 6h -v -run TestPlants -args -plants $(ARGS)
kills: ## kill 1,000 processes that record (or KILLS=n), and replay what each left
	$(GO) test ./test/servers/process -count=1 -timeout 2h -v -run TestAKilledProcess -args -kills $(KILLS)
worlds: ## take checkpoints in 100,000 simulated worlds, from the seed SEED on (or WORLDS=n)
	$(GO) test ./test/worlds/sim -count=1 -timeout 6h -v -run 'TestCheckpoints$$' -args -first $(SEED) -worlds $(WORLDS)
small: ## go through small worlds state by state, all of them; every test run does the smallest
	$(GO) test ./test/worlds/small -count=1 -timeout 12h -v -run 'TestWorlds|TestANodeWithoutAName' -full $(ARGS)
mutants: ## plant 1666 bugs in the source, one at a time, and see which tests find them (or ARGS='-only EXPR', or ARGS=-rest after an interruption)
	nice -n 10 $(GO) test ./test/kit/mutants -count=1 -timeout 6h -v -run 'TestMutants$$' -full $(ARGS)

.PHONY: upgrade
upgrade: ## before a release: processes of an older version and of this one in the same lines, locks and queues; needs make deps
	$(GO) test ./test/servers/upgrade -count=1 -timeout 30m -v -args -full $(ARGS)

.PHONY: servers
servers: ## the tests that meet a server, and rolling upgrades, on six releases of ZooKeeper: the table of docs/proofs.md (ARGS='-only 3.6.4,suite'); needs make deps
	@bash scripts/fetch servers
	$(GO) test ./test/servers/releases -count=1 -timeout 12h -v -run 'TestReleases$$' -args -full $(ARGS)

.PHONY: peers
peers: ## lines shared with Debian's Curator and kazoo, in place of today's, which every proof meets, and with Rust; needs make deps, cargo
	cargo build --quiet --locked --manifest-path test/servers/interop/rust/Cargo.toml --target-dir .cache/rust
	INCUMBENT_PEERS=debian INCUMBENT_REQUIRE=all INCUMBENT_LEVEL=prove $(GO) test ./test/servers/interop -count=1 -timeout 30m -v $(ARGS)

.PHONY: elastic-job
elastic-job: ## ElasticJob's jars and this library in one job, on both servers: kills, expiries, in every order; needs make deps
	$(GO) test ./test/servers/elasticjob -count=1 -timeout 3h -v -args -full $(ARGS)

MINUTES ?= 10
.PHONY: chaos
chaos: ## MINUTES of kill -9, SIGSTOP and cut links on three real servers, drawn from SEED, beside everything with a place; needs make deps
	@$(GO) test ./test/servers/chaos -count=1 -timeout 24h -v -run 'TestChaos$$' -args -minutes $(MINUTES) -seed $(SEED) $(ARGS)

.PHONY: lint
lint: ## gofmt, actionlint, go vet, staticcheck, go mod tidy, of every module; the main one's types also as on macOS and Windows; needs make deps
	@bash scripts/lint

.PHONY: vulnerabilities outdated
vulnerabilities: ## known vulnerabilities that the code of every module reaches; asks Go's database, over the network
	@bash scripts/vulnerabilities
outdated: ## what every module requires directly and has a newer version
	@bash scripts/outdated

.PHONY: scale
scale: ## 100,000 latches opened and closed, 10,000 recipes through an expiry: what is left behind
	$(GO) test -count=1 -timeout 30m -v ./test/figures/scale -args -full

RECORDS ?= 1000000
.PHONY: large-logs
large-logs: ## what incumbent why takes for RECORDS (1,000,000) of busy locks: the figure of docs/performance.md
	$(GO) test -count=1 -timeout 30m -v ./cmd/incumbent -run TestWhyKeepsLittle -args -records $(RECORDS)

.PHONY: herd
herd: ## what it costs when all candidates watch the leader, beside watching the one before: the table of docs/performance.md
	$(GO) test -count=1 -timeout 10m -v ./test/figures -run TestTheHerd -args -full

.PHONY: queues
queues: ## items a second through queues, beside Curator's and kazoo's on one real server: the table of bench/queues.md; needs make deps
	$(GO) test -count=1 -timeout 30m -v ./test/servers/interop -run TestQueuesSideBySide -args -full

.PHONY: shards
shards: ## 1,000 shards on ten members, beside a latch for each and kazoo's SetPartitioner: the table of bench/shards.md; needs make deps
	$(GO) test -count=1 -timeout 30m -v ./test/servers/interop -run TestShardsSideBySide -args -full

.PHONY: foreign
foreign: ## the tests of kazoo, go-zookeeper, Curator and a Rust client against zkmem and a real server: the tables of docs/proofs.md; needs make deps, cargo
	@bash scripts/fetch foreign
	$(GO) test ./test/servers/suites -count=1 -timeout 4h -v -run 'TestSuites$$' -args -full

.PHONY: systems
systems: PART = all
systems: ## Kafka, Hadoop, Flink and others on zkmem and a real server, through faults: the table of docs/testing.md (PART=short, or one: hadoop); needs make deps
	@for one in $$(case $(PART) in all) sed -n 's/^# \([a-z]*\) = .*/\1/p' test/servers/systems/jars.tsv ;; \
	short) echo elasticjob hadoop flink ;; *) echo $(PART) ;; esac); do bash scripts/fetch $$one test/servers/systems/jars.tsv || exit 1; done
	INCUMBENT_REQUIRE=all $(GO) test ./test/servers/systems -count=1 -timeout 3h -v -run 'TestSystems$$' -args -part $(PART) -write $(ARGS)

.PHONY: adopters
adopters: ## ports of Vitess' topology server, Vault's backend and valkeyrie's store: their own tests, rolling upgrades; needs make deps
	@for one in test/adopters/*/go.mod; do echo "== $$one" && (cd "$${one%/go.mod}" && \
	CGO_ENABLED=0 INCUMBENT_REQUIRE=all $(GO) test -count=1 -timeout 30m -v $(ARGS) ./...) || exit 1; done

.PHONY: caches
caches: ## what it costs to have 10,000 nodes in memory, ours, Curator's and kazoo's on one real server: the table of bench/caches.md; needs make deps
	$(GO) test -count=1 -timeout 30m -v ./test/servers/interop -run TestTreeCachesSideBySide -args -full

.PHONY: bench
bench: ## run the benchmarks
	$(GO) test -run '^$$' -bench . -benchmem -timeout 30m $(ARGS) ./...

PART ?= quick
.PHONY: bench-peers
bench-peers: ## PART (quick, newest, double, network, ensemble, scale, recipes) of bench/results.md: other libraries in turns with this one; needs make deps
	@cd bench && $(GO) run . -part $(PART) $(ARGS)

.PHONY: fleet
fleet: ## 10,000 sessions on one ensemble (ARGS="-servers 3"): the tables of bench/fleet/results.md; needs make deps
	@cd bench && $(GO) run ./fleet $(ARGS)

SITE := .cache/site
.PHONY: site play-scripts
site: ## write the playground as a static site to .cache/site: any file server may serve it
	@$(GO) run ./cmd/gensite $(SITE) && ls -l $(SITE)
SCRIPTS ?= 10000
play-scripts: ## play SCRIPTS (10,000) random scripts by hand and by link, and a tenth of them in WebAssembly: the same worlds; needs node
	$(GO) test ./play -count=1 -timeout 3h -v -run TestByHandIsByLink -args -scripts $(SCRIPTS)
	$(GO) test ./cmd/playwasm -count=1 -timeout 3h -v -run TestWebAssembly -args -scripts $$(($(SCRIPTS) / 10))

.PHONY: fuzz
fuzz: ## fuzz every target for FUZZTIME (20s)
	@GO="$(GO)" bash scripts/fuzz "$(FUZZTIME)"

.PHONY: explore
explore: PART = # all of them; the default above is another target's
explore: RUNS = 0
explore: ## MINUTES of new seeds for what CI plays with fixed ones; PART=differential, walks, worlds, fuzz or chaos alone; needs make deps
	@GO="$(GO)" RUNS="$(RUNS)" bash scripts/explore "$(MINUTES)" $(PART)

.PHONY: cover
cover: ## test coverage by function, and .cache/cover.html
	@mkdir -p .cache
	$(GO) test -timeout 15m -coverpkg=./... -coverprofile=.cache/cover.out ./...
	$(GO) tool cover -func=.cache/cover.out | tail -n 1
	$(GO) tool cover -html=.cache/cover.out -o .cache/cover.html

.PHONY: release
release: ## what VERSION (v0.1.0) publishes, in .cache/release/VERSION or DIR, after make prove (PROVE=no for a trial); pushes nothing
	@GOTOOLCHAIN=$$(sed -n 's/^toolchain //p' go.mod) $(GO) run ./cmd/release -version "$(VERSION)" -dir "$(DIR)" -prove "$(PROVE)"

.PHONY: deps
deps: ## install what the whole suite needs: Java, ZooKeeper, Curator, JUnit, kazoo, pytest, gcc (Debian, root), linters
	@bash scripts/deps
