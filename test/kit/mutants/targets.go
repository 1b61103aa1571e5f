package mutants

// seed is the one of the sample that is judged.
const seed = 1

// notFinders are tests that fail whenever the behaviour changes, right or wrong: what they compare with was recorded.
const notFinders = "^(TestTraces|TestDigests|TestPlants|TestLivenessPlants)$"

// compilerDependent are tests of allocations that the switches of the mutants add to: the compiler inlines less.
const compilerDependent = "^(TestARoundIsCountedWithoutAllocation|TestAStepIsCountedWithoutAllocation|" +
	"TestNoEventIsCountedWithAnAllocation|TestWhyAllocatesByTheRecord)$"

// fewFiles are tests of programs that may open few files: one that notes which mutants it comes to opens one more.
const fewFiles = "^TestNoGuardEndsTheCommand$"

// The stages. Every one is at the level of quick, so the tests of what follows are a small part.
var (
	ofEngine   = Stage{Dir: "engine", Run: "."}
	ofMachines = Stage{Dir: "machines", Run: ".", Skip: notFinders}
	ofTraces   = Stage{Dir: "machines", Run: "^TestTraces$", Args: []string{"-judged"}} // without their golden texts
	ofSmall    = Stage{Dir: "test/worlds/small", Run: "^(TestWorlds|TestIdling)$"}
	ofWorlds   = Stage{Dir: "test/worlds/sim", Run: "^TestWorlds$", Args: []string{"-worlds=200"}}
	ofSeparate = Stage{Dir: "test/worlds/sim", Run: "^TestSeparateWorlds$"}
	ofZkio     = Stage{Dir: "zkio", Run: "."}
	ofZkmem    = Stage{Dir: "zkio/zkmem", Run: "."}
	ofRoot     = Stage{Dir: ".", Run: ".", Skip: compilerDependent}
	ofDoor     = Stage{Dir: "test/door", Run: "."}
	ofHealth   = Stage{Dir: "health", Run: "."}
	ofMetrics  = Stage{Dir: "metrics", Run: "."}
	ofEvents   = Stage{Dir: "events", Run: "."}
	ofLog      = Stage{Dir: "internal/flightlog", Run: "."}
	ofSegments = Stage{Dir: "internal/segments", Run: "."}
	ofWhy      = Stage{Dir: "internal/why", Run: "."}
	ofPage     = Stage{Dir: "internal/page", Run: "."}
	ofDoctor   = Stage{Dir: "internal/doctor", Run: "."}
	ofBelief   = Stage{Dir: "internal/belief", Run: "."}
	ofMeters   = Stage{Dir: "internal/meters", Run: ".", Skip: compilerDependent}
	ofJournal  = Stage{Dir: "internal/journal", Run: "."}
	ofJute     = Stage{Dir: "internal/jute", Run: "."}
	ofDiscover = Stage{Dir: "discovery", Run: "."}
	ofProgram  = Stage{Dir: "cmd/incumbent/program", Run: ".", Skip: compilerDependent}
	ofCommand  = Stage{Dir: "cmd/incumbent", Run: ".", Skip: fewFiles}
	ofGroup    = Stage{Dir: "cmd/incumbent/group", Run: "."}
	ofControl  = Stage{Dir: "cmd/incumbent/control", Run: "."}
	ofCli      = Stage{Dir: "cmd/internal/cli", Run: "."}
	ofSlogger  = Stage{Dir: "slogger", Run: "."}
	ofArgument = Stage{Dir: "internal/arguments", Run: "."}
	ofCaller   = Stage{Dir: "internal/caller", Run: "."}
	ofFault    = Stage{Dir: "internal/fault", Run: "."}
	ofHandles  = Stage{Dir: "internal/handles", Run: "."}
	ofChecks   = Stage{Dir: "internal/healthcheck", Run: "."}
	ofAsync    = Stage{Dir: "internal/async", Run: "."}
	ofCalls    = Stage{Dir: "internal/calls", Run: "."}
	ofClock    = Stage{Dir: "internal/clock", Run: "."}
	ofMD5      = Stage{Dir: "internal/digestmd5", Run: "."}
	ofJobs     = Stage{Dir: "internal/jobs", Run: "."}
	ofLive     = Stage{Dir: "internal/page/live", Run: "."}
	ofPlay     = Stage{Dir: "internal/play", Run: "."}
	ofServer   = Stage{Dir: "internal/play/server", Run: "."}
	ofPlain    = Stage{Dir: "internal/plaindata", Run: "."}
	ofQuorum   = Stage{Dir: "internal/quorum", Run: "."}
	ofTree     = Stage{Dir: "internal/tree", Run: "."}
	ofUser     = Stage{Dir: "internal/usercode", Run: "."}
	ofTxnlog   = Stage{Dir: "internal/why/txnlog", Run: "."}
	ofSuite    = Stage{Dir: "test/servers/suite", Run: "."} // its half in memory: quick starts no servers
)

// targets are the packages with mutants: those of the product, with the most in the machines, where every decision is
// made. The in-memory server has few: it serves tests, and test/servers/differential compares it with a real one. Of a
// small package all mutants are tried. Not here are the switches of tests (invariants, optimizations, sources), the
// simulated world, what draws charts for people, the programs that make this repository's files, incumbentvet, whose
// results go vet keeps, and integrations, which are modules of their own.
var targets = []Target{
	{"engine", 45, []Stage{ofEngine, ofMachines, ofSmall, ofSeparate, ofWorlds, ofTraces, ofDoor}},
	{"machines", 120, []Stage{ofMachines, ofSmall, ofSeparate, ofWorlds, ofTraces, ofDoor}},
	{"zkio", 45, []Stage{ofZkio, ofDoor}},
	{"zkio/zkmem", 30, []Stage{ofZkmem, ofZkio}},
	{".", 60, []Stage{ofRoot, ofDoor, ofSuite}},
	{"health", 40, []Stage{ofHealth}},
	{"metrics", 40, []Stage{ofMetrics}},
	{"events", 40, []Stage{ofEvents, ofLog}},
	{"internal/flightlog", 40, []Stage{ofLog}},
	{"internal/segments", 40, []Stage{ofSegments, ofLog}},
	{"internal/belief", 40, []Stage{ofBelief}},
	{"internal/meters", 40, []Stage{ofMeters}},
	{"internal/journal", 40, []Stage{ofJournal}},
	{"internal/jute", 40, []Stage{ofJute, ofDoctor}},
	{"internal/doctor", 40, []Stage{ofDoctor}},
	{"internal/why", 40, []Stage{ofWhy, ofPage}},
	{"internal/page", 40, []Stage{ofPage}},
	{"discovery", 40, []Stage{ofDiscover}},
	{"slogger", 40, []Stage{ofSlogger}},
	{"internal/arguments", 40, []Stage{ofArgument}},
	{"internal/async", 40, []Stage{ofAsync}},
	{"internal/caller", 40, []Stage{ofCaller}},
	{"internal/calls", 40, []Stage{ofCalls}},
	{"internal/clock", 40, []Stage{ofClock}},
	{"internal/digestmd5", 40, []Stage{ofMD5}},
	{"internal/fault", 40, []Stage{ofFault}},
	{"internal/handles", 40, []Stage{ofHandles, ofRoot, ofDoor}},
	{"internal/healthcheck", 40, []Stage{ofChecks}},
	{"internal/jobs", 40, []Stage{ofJobs}},
	{"internal/page/live", 40, []Stage{ofLive}},
	{"internal/play", 40, []Stage{ofPlay}},
	{"internal/play/server", 40, []Stage{ofServer}},
	{"internal/plaindata", 40, []Stage{ofPlain, ofEngine}},
	{"internal/quorum", 40, []Stage{ofQuorum}},
	{"internal/tree", 40, []Stage{ofTree}},
	{"internal/usercode", 40, []Stage{ofUser}},
	{"internal/why/txnlog", 40, []Stage{ofTxnlog}},
	{"cmd/incumbent/control", 40, []Stage{ofControl}},
	{"cmd/incumbent/group", 40, []Stage{ofGroup}},
	{"cmd/incumbent/program", 40, []Stage{ofProgram, ofCommand}},
	{"cmd/internal/cli", 40, []Stage{ofCli}},
}
