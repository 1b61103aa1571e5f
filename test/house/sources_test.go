package house

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// clockFiles may read the clock outside the minds and the engine, each for a
// reason. Servers in memory, programs and tests may, too.
var clockFiles = map[string]string{
	"internal/clock/clock.go":        "is the source of time",
	"internal/clock/system_other.go": "is the source of time where there is no CLOCK_BOOTTIME",

	"leadership.go":                "ValidUntil gives the deadline as a time of day",
	"recording.go":                 "the log's header says when the log began",
	"internal/flightlog/output.go": "the log's notes say what the wall clock is",
	"internal/flightlog/dir.go":    "each segment's header says when it began",
	"internal/flightlog/ring.go":   "the header of a dump says when it began",

	"zkio/deadline.go":    "a socket's deadlines are times of day",
	"zkio/certificate.go": "a certificate ends at a time of day",
}

// chanceFiles may draw random numbers there.
var chanceFiles = map[string]string{
	"config.go":     "draws the seed of every machine, which stands in the log",
	"zkio/hosts.go": "shuffles the servers, so that clients spread over them",
}

// library is code that an embedding program runs.
func library(f *file) bool {
	return !f.test && !f.nested && !under(f.dir, "cmd")
}

var sources = []rule{
	{
		name: "one source of time",
		why: "everything takes the time from the clock that the door hands out: deadlines that are taken on two " +
			"clocks can disagree, and no test can fake the second",
		finds: func(f *file) []finding {
			if f.test || !f.in(".", "zkio") && !f.in(leaves...) || clockFiles[f.path] != "" {
				return nil
			}
			return readsClock(f, []string{"time.Now", "time.Since", "time.Until"})
		},
		breach: breach{"zkio/x.go", `package zkio; import "time"; var t = time.Now()`},
	},
	{
		name: "one source of chance",
		why:  "what is random must stand in a recorded command or event; else a replay cannot be right",
		finds: func(f *file) []finding {
			if f.test || !f.in(".", "zkio") && !f.in(leaves...) || chanceFiles[f.path] != "" {
				return nil
			}
			return importsOf(f, chance)
		},
		breach: breach{"latch.go", `package incumbent; import _ "math/rand/v2"`},
	},
	{
		name: "only test/kit/mutate tampers with charts",
		why: "the chart that runs is the one that MustCompile found in order and that is drawn: planted bugs " +
			"are for harnesses",
		finds: func(f *file) []finding {
			if f.test || under(f.dir, "test/kit/mutate") {
				return nil
			}
			return f.each(func(n ast.Node) string {
				if f.called(n) == module+"/engine.Rewire" {
					return "engine.Rewire changes a compiled chart"
				}
				return ""
			})
		},
		breach: breach{"hold.go",
			`package incumbent; import "` + module + `/engine"; func init() { engine.Rewire(nil, "", nil) }`},
	},
	{
		name: "a library does not print",
		why: "what an embedding program writes, and where, is its own affair: a client has Config.Logger, " +
			"and Config.Silent for the one place that writes without it",
		finds: func(f *file) []finding {
			if !library(f) {
				return nil
			}
			prints := f.each(func(n ast.Node) string {
				switch name := f.called(n); name {
				case "os.Stderr":
					if f.path == "config.go" {
						return ""
					}
					return "uses " + name
				case "fmt.Print", "fmt.Println", "fmt.Printf", "os.Stdout", "os.Exit":
					return "uses " + name
				}
				if call, ok := n.(*ast.CallExpr); ok {
					if id, ok := call.Fun.(*ast.Ident); ok && (id.Name == "print" || id.Name == "println") {
						return "uses " + id.Name
					}
				}
				return ""
			})
			return append(prints, importsOf(f, []string{"log"})...)
		},
		breach: breach{"zkio/x.go", `package zkio; import "fmt"; func f() { fmt.Println() }`},
	},
	{
		name: "a node's name is made and read in one place",
		why:  "Curator's layout is what Go and Java share; machines/znode.go is the only file that knows it",
		finds: func(f *file) []finding {
			if !library(f) || f.path == "machines/znode.go" || f.dir == "zkio/zkmem" {
				return nil
			}
			return f.each(func(n ast.Node) string {
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					return ""
				}
				for _, part := range []string{"_c_", "latch-", "lock-", "%010d"} {
					if strings.Contains(lit.Value, part) {
						return "knows how names are made: " + lit.Value
					}
				}
				return ""
			})
		},
		breach: breach{"machines/x.go", `package machines; const prefix = "_c_"`},
	},
	{
		name: "no hidden beginning",
		why:  "importing a library must not do anything that can be seen; charts are compiled as values of variables",
		finds: func(f *file) []finding {
			if !library(f) {
				return nil
			}
			var found []finding
			for _, d := range f.tree.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
					found = append(found, finding{fn.Pos(), "has an init function"})
				}
			}
			return found
		},
		breach: breach{"machines/x.go", `package machines; func init() {}`},
	},
}

// isTestingCall is "Skip" for t.Skip and its like, whatever t is called.
func isTestingCall(f *file, n ast.Node, names ...string) (*ast.CallExpr, string) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return nil, ""
	}
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains(names, s.Sel.Name) || f.called(s) != "" {
		return nil, ""
	}
	return call, s.Sel.Name
}

var tests = []rule{
	{
		name: "a skip says what was not run",
		why: "a skipped test looks like a passed one: make test collects these messages for its last line, and CI " +
			"takes every skip for a failure",
		finds: func(f *file) []finding {
			if !f.test {
				return nil
			}
			return f.each(func(n ast.Node) string {
				call, name := isTestingCall(f, n, "Skip", "Skipf", "SkipNow")
				switch {
				case call == nil:
					return ""
				case name == "SkipNow" || len(call.Args) == 0:
					return name + " without a message"
				}
				if lit, ok := call.Args[0].(*ast.BasicLit); !ok || !strings.HasPrefix(lit.Value, `"not run: `) {
					return name + ` with a message that does not begin with "not run: "`
				}
				return ""
			})
		},
		breach: breach{"x_test.go",
			`package incumbent; import "testing"; func TestX(t *testing.T) { t.Skip("later") }`},
	},
}
