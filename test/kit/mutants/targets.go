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
	ofSuite    = Stage{Dir: "test/servers/suite", Run: "."} // its half in memory: quick starts no servers
)

// targets are the packages with mutants. More than half of a sample is in machines and engine, where every decision is made, and
// the more of it where there is more code. The in-memory server has the least: it serves tests, and test/servers/differential compares it
// with a real one.
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
	{"cmd/incumbent/program", 40, []Stage{ofProgram, ofCommand}},
}
