package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// maxPauses is how many lines of tests may be marked with "// pause: …": a real
// pause that is the deed itself, such as how long a fault lasts. It may only fall.
const maxPauses = 15

const pauseMark = "// pause: "

var sleeping = []rule{
	{
		name: "no sleep in tests",
		why: "a sleep is too short on some machine and too long on all others: wait for the event " +
			"itself, or sleep by " +
			"virtual.Sleep, in a bubble; " +
			"if the pause is the deed itself, say \"// pause: \" and why",
		finds:  sleeps,
		breach: breach{"x_test.go", "package incumbent; import \"time\"\nfunc f() { time.Sleep(1) }"},
	},
	{
		name: "a bubble has a watchdog",
		why: "heartbeats keep virtual time moving, so a test that waits for a lost wake-up hangs in synctest.Test " +
			"until go test ends; virtual.Test says where it waits and what happened last",
		finds: func(f *file) []finding {
			if under(f.dir, "test/kit/virtual") {
				return nil
			}
			return f.each(func(n ast.Node) string {
				if f.called(n) == "testing/synctest.Test" {
					return "starts a bubble without virtual.Test"
				}
				return ""
			})
		},
		breach: breach{"x_test.go",
			`package incumbent; import "testing/synctest"; func TestX(t *testing.T) { synctest.Test(t, nil) }`},
	},
}

// sleeps finds every line of a test that waits for time alone: time.Sleep, and a
// receive from a timer that no other case of a select can end.
func sleeps(f *file) []finding {
	if !f.test || f.dir == "test/kit/virtual" {
		return nil
	}
	lines := strings.Split(f.text, "\n")
	s := &sleepFinder{file: f, channels: timerChannels(f), ended: map[ast.Node]bool{}}
	var all []finding
	for _, found := range s.file.each(s.look) {
		line := lines[f.line(found.at)-1]
		if paused(line) {
			continue
		}
		all = append(all, found)
	}
	return all
}

// paused reports whether a line is marked as a pause that is the deed itself.
func paused(line string) bool {
	_, reason, marked := strings.Cut(line, pauseMark)
	return marked && strings.Contains(strings.TrimSpace(reason), " ")
}

// sleepFinder looks at the nodes of a file, each before those that it contains.
type sleepFinder struct {
	*file
	channels map[string]bool   // names of variables and fields that hold a timer's channel
	ended    map[ast.Node]bool // receives that something else than time can end
}

func (s *sleepFinder) look(n ast.Node) string {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		if s.called(n) == "time.Sleep" {
			return "sleeps"
		}
	case *ast.SelectStmt:
		s.choose(n)
	case *ast.UnaryExpr:
		if n.Op == token.ARROW && s.timed(n.X) && !s.ended[n] {
			return "waits for a timer alone, which is a sleep"
		}
	case *ast.RangeStmt:
		if s.timed(n.X) {
			return "waits for a ticker alone, which is a sleep"
		}
	}
	return ""
}

// choose notes the receives of a select that another case can end.
func (s *sleepFinder) choose(n *ast.SelectStmt) {
	var timed []ast.Node
	others := false
	for _, c := range n.Body.List {
		receive := received(c.(*ast.CommClause).Comm)
		if receive != nil && s.timed(receive.X) {
			timed = append(timed, receive)
		} else {
			others = true
		}
	}
	for _, receive := range timed {
		s.ended[receive] = others
	}
}

// received returns the receive of a case, nil if it is another statement.
func received(s ast.Stmt) *ast.UnaryExpr {
	var x ast.Expr
	switch s := s.(type) {
	case *ast.ExprStmt:
		x = s.X
	case *ast.AssignStmt:
		x = s.Rhs[0]
	}
	receive, _ := x.(*ast.UnaryExpr)
	return receive
}

// timed reports whether an expression is the channel of a timer: a call of
// time.After, the field C, or a variable that holds one of them.
func (s *sleepFinder) timed(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return s.timed(x.X)
	case *ast.Ident:
		return s.channels[x.Name]
	case *ast.SelectorExpr:
		return x.Sel.Name == "C" && s.called(x) == "" || s.channels[x.Sel.Name]
	case *ast.CallExpr:
		name := s.called(x.Fun)
		return name == "time.After" || name == "time.Tick"
	}
	return false
}

// timerChannels returns the names that a file gives to channels of timers.
func timerChannels(f *file) map[string]bool {
	names := map[string]bool{}
	s := &sleepFinder{file: f, channels: names}
	note := func(to, from ast.Expr) {
		switch to := to.(type) {
		case *ast.Ident:
			names[to.Name] = names[to.Name] || s.timed(from)
		case *ast.SelectorExpr:
			names[to.Sel.Name] = names[to.Sel.Name] || s.timed(from)
		}
	}
	ast.Inspect(f.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i := range min(len(n.Lhs), len(n.Rhs)) {
				note(n.Lhs[i], n.Rhs[i])
			}
		case *ast.ValueSpec:
			for i := range min(len(n.Names), len(n.Values)) {
				note(n.Names[i], n.Values[i])
			}
		}
		return true
	})
	return names
}

func TestSleepsByTimersAreFound(t *testing.T) {
	for body, want := range map[string]int{
		"time.Sleep(d)":                                       1,
		"<-time.After(d)":                                     1,
		"_ = <-time.After(d)":                                 1,
		"<-time.NewTimer(d).C":                                1,
		"timer := time.NewTimer(d); <-timer.C":                1,
		"after := time.After(d); <-after":                     1,
		"var after = time.After(d); <-after":                  1,
		"select { case <-time.After(d): }":                    1,
		"select { case <-a.C: case now := <-b.C: _ = now}":    2,
		"for range time.Tick(d) {}":                           1,
		"for range ticker.C {}":                               1,
		"func() { <-time.After(d) }()":                        1,
		"select { case <-done: <-time.After(d) }":             1,
		"select { case <-done: case <-time.After(d): }":       0,
		"select { case v := <-done: _ = v; case <-timer.C: }": 0,
		"select { case out <- 1: case <-timer.C: }":           0,
		"<-done":      0,
		"<-syscall.C": 0,
		"<-time.After(d) // pause: how long the fault lasts": 0,
		"<-time.After(d) // pause: fault":                    1,
		"<-time.After(d) // pause: ":                         1,
	} {
		f, err := parse("x_test.go", "package incumbent\nimport (\n\"syscall\"\n\"time\"\n)\nfunc f() { "+body+"\n}")
		if err != nil {
			t.Fatal(err)
		}
		if found := sleeps(f); len(found) != want {
			t.Errorf("%s: found %d sleeps, want %d", body, len(found), want)
		}
	}
}

// Every pause is counted, so that one more is a decision.
func TestPausesBecomeFewer(t *testing.T) {
	var all []string
	for _, f := range files(t) {
		if f.path == "test/house/sleeps_test.go" {
			continue
		}
		for i, line := range strings.Split(f.text, "\n") {
			if strings.Contains(line, pauseMark) {
				all = append(all, fmt.Sprintf("%s:%d: %s", f.path, i+1, strings.TrimSpace(line)))
			}
		}
	}
	if len(all) != maxPauses {
		t.Errorf("%d pauses, and maxPauses is %d: wait for an event instead of a new one, or lower it\n%s", len(all),
			maxPauses, strings.Join(all, "\n"))
	}
}
