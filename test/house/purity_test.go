package house

import (
	"fmt"
	"go/ast"
	"slices"
)

// clocks are the functions of package time that read or wait for the clock.
var clocks = []string{"time.Now", "time.Since", "time.Until", "time.After", "time.AfterFunc", "time.NewTimer",
	"time.NewTicker", "time.Tick", "time.Sleep"}

var chance = []string{"math/rand", "math/rand/v2", "crypto/rand"}

// outside is what a pure package has no business with.
var outside = append([]string{"context", "sync", "sync/atomic", "os", "os/exec", "net", "syscall", "runtime",
	"hash/maphash", "unique"}, chance...)

// concurrent names a node that starts or joins goroutines.
func concurrent(n ast.Node) string {
	switch n.(type) {
	case *ast.GoStmt:
		return "starts a goroutine"
	case *ast.SelectStmt:
		return "selects"
	case *ast.ChanType:
		return "has a channel"
	case *ast.SendStmt:
		return "sends on a channel"
	}
	return ""
}

// readsClock names a use of the clock.
func readsClock(f *file, which []string) []finding {
	return f.each(func(n ast.Node) string {
		if name := f.called(n); slices.Contains(which, name) {
			return "reads the clock with " + name
		}
		return ""
	})
}

func importsOf(f *file, banned []string) []finding {
	return f.imports(func(p string) string {
		if slices.Contains(banned, p) {
			return "imports " + p
		}
		return ""
	})
}

// minds reports whether a file is in machines, events or why, whose code is pure.
func minds(f *file) bool {
	return !f.test && f.in("machines", "events", "internal/why", "internal/why/txnlog")
}

// pure reports whether a file is in one of these, or in the simulated world, which has
// random numbers of its own, or plays it, or knows who leads its ensemble.
func pure(f *file) bool {
	return minds(f) || !f.test && f.in("internal/world", "internal/play", "internal/quorum")
}

var purity = []rule{
	{
		name: "machines, events and world see no clock",
		why:  "the same log must give the same effects, byte for byte: time comes in with the event, as Event.At",
		finds: func(f *file) []finding {
			if !pure(f) {
				return nil
			}
			return readsClock(f, clocks)
		},
		breach: breach{"machines/x.go", `package machines; import t "time"; var now = t.Now()`},
	},
	{
		name: "machines and events see nothing of the outside",
		why: "the same log must give the same effects, byte for byte: chance comes in with the event, as a seed, and " +
			"everything else as a reply",
		finds: func(f *file) []finding {
			if !minds(f) {
				return nil
			}
			return importsOf(f, outside)
		},
		breach: breach{"events/x.go", `package events; import _ "sync"`},
	},
	{
		name: "machines, events and world know no goroutine",
		why:  "a machine is stepped by one goroutine, the loop's; what is in flight is a state with a name",
		finds: func(f *file) []finding {
			if !pure(f) {
				return nil
			}
			return f.each(concurrent)
		},
		breach: breach{"machines/x.go", `package machines; func f() { go f() }`},
	},
	{
		name: "the engine has one loop",
		why: "one goroutine and one select in engine/loop.go: whoever reads that file has read all concurrency of an " +
			"engine; what engines share is in engine/steppers.go, behind a lock",
		finds: func(f *file) []finding {
			if f.test || f.dir != "engine" || f.path == "engine/loop.go" {
				return nil
			}
			found := f.each(concurrent)
			if f.path != "engine/steppers.go" {
				found = append(found, importsOf(f, []string{"sync", "sync/atomic"})...)
			}
			return found
		},
		breach: breach{"engine/replay.go", `package engine; func f() { select {} }`},
	},
	{
		name: "the loop starts no goroutine",
		why:  "the loop's goroutine is its caller's: Run returns when it is over, and nothing is left behind",
		finds: func(f *file) []finding {
			if f.path != "engine/loop.go" {
				return nil
			}
			return f.each(func(n ast.Node) string {
				if _, ok := n.(*ast.GoStmt); ok {
					return "starts a goroutine"
				}
				return ""
			})
		},
		breach: breach{"engine/loop.go", `package engine; func f() { go f() }`},
	},
	{
		name: "the engine sees no clock and no chance",
		why:  "the loop asks the Clock that the door hands to it; a replay, a simulation and a test hand it another",
		finds: func(f *file) []finding {
			if f.test || f.dir != "engine" {
				return nil
			}
			return append(readsClock(f, clocks), importsOf(f, append([]string{"os", "net"}, chance...))...)
		},
		breach: breach{"engine/loop.go", `package engine; import "time"; var t = time.NewTimer(0)`},
	},
	{
		name: "one context in the engine",
		why: "a cancelled context wedges a looplab machine for ever, so machine.go gives it context.Background; the " +
			"only other context is the one that ends Run",
		finds: func(f *file) []finding {
			if f.test || f.dir != "engine" {
				return nil
			}
			found := f.each(func(n ast.Node) string {
				name := f.called(n)
				if name == "context.TODO" || name == "context.Background" && f.path != "engine/machine.go" {
					return "makes a context with " + name
				}
				return ""
			})
			if f.path != "engine/machine.go" && f.path != "engine/loop.go" {
				found = append(found, importsOf(f, []string{"context"})...)
			}
			return found
		},
		breach: breach{"engine/loop.go", `package engine; import "context"; var ctx = context.Background()`},
	},
	{
		name: "no order of a map",
		why: "a map's order differs from run to run, so maps.Keys and its kin are sorted at once: " +
			"slices.Sorted(maps.Keys(m))",
		finds: func(f *file) []finding {
			if f.test ||
				!f.in("machines", "events", "engine", "internal/plaindata", "internal/world", "internal/play",
					"internal/why", "internal/why/txnlog", "internal/quorum") {
				return nil
			}
			return unsorted(f)
		},
		breach: breach{"machines/x.go", `package machines; import "maps"; var all = maps.Keys(map[string]int{})`},
	},
}

// unsorted finds iterators over maps that are not handed to slices.Sorted. Loops
// that range over a map need types: TestNoOrderOfAMap has them.
func unsorted(f *file) []finding {
	sorted := map[ast.Node]bool{}
	return f.each(func(n ast.Node) string {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return ""
		}
		switch name := f.called(call.Fun); name {
		case "slices.Sorted", "slices.SortedFunc", "slices.SortedStableFunc":
			sorted[call.Args[0]] = true
		case "maps.Keys", "maps.Values", "maps.All":
			if !sorted[call] {
				return fmt.Sprintf("%s without slices.Sorted around it", name)
			}
		}
		return ""
	})
}
