package selection

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// listener is a test that keeps what is logged.
type listener struct {
	testing.TB
	said []string
}

func (l *listener) Helper() {}

func (l *listener) Logf(format string, args ...any) {
	l.said = append(l.said, fmt.Sprintf(format, args...))
}

func TestALevelIsFoundByItsName(t *testing.T) {
	for name, want := range map[string]Level{"": Test, "quick": Quick, "test": Test, "prove": Prove} {
		if got, err := Parse(name); got != want || err != nil {
			t.Errorf("%q is %s, %v", name, got, err)
		}
	}
	if got := Quick.Setting(); got != "INCUMBENT_LEVEL=quick" {
		t.Errorf("a test binary gets %s", got)
	}
	if _, err := Parse("Prove"); err == nil {
		t.Error("a level that does not exist was accepted")
	}
}

func TestAPartIsSaidAndTheWholeIsNot(t *testing.T) {
	for level, want := range map[Level]struct {
		n    int
		said []string
	}{
		Quick: {5, []string{"selected: 5 of 100 worlds"}},
		Test:  {20, []string{"selected: 20 of 100 worlds"}},
		Prove: {100, nil},
	} {
		l := &listener{TB: t}
		if n := of(l, level, "worlds", 5, 20, 100); n != want.n || !slices.Equal(l.said, want.said) {
			t.Errorf("%s: %d, said %q", level, n, l.said)
		}
	}
	l := &listener{TB: t}
	if d := of(l, Quick, "of idling", time.Minute, time.Hour, time.Hour); d != time.Minute ||
		l.said[0] != "selected: 1m0s of 1h0m0s of idling" {
		t.Errorf("%s, said %q", d, l.said)
	}
}

// The environment decides, except that the race detector has the part of quick.
func TestTheEnvironmentDecides(t *testing.T) {
	for name, want := range map[string]int{"quick": 1, "": 2, "test": 2, "prove": 3} {
		t.Setenv(Variable, name)
		l := &listener{TB: t}
		if raced {
			want = 1
		}
		if got := Of(l, "things", 1, 2, 3); got != want {
			t.Errorf("%q: %d things", name, got)
		}
		if got := Full(l, "less"); got != (want == 3) || len(l.said) != 2*min(1, 3-want) {
			t.Errorf("%q: full %t, said %q", name, got, l.said)
		}
		if got := StartsServers(l); got != (name == "" || name == "prove") {
			t.Errorf("%q starts servers: %t", name, got)
		}
		if got := part(l, true); got != Quick {
			t.Errorf("%q under the race detector: the part of %s", name, got)
		}
	}
}

func TestSomeAreSpreadOverAll(t *testing.T) {
	all := []string{"a", "b", "c", "d", "e", "f", "g"}
	for n, want := range [][]string{nil, {"a"}, {"a", "d"}, {"a", "c", "e"}} {
		if got := spread(all, n); !slices.Equal(got, want) {
			t.Errorf("%d: %q", n, got)
		}
	}
	if got := spread(all, len(all)); !slices.Equal(got, all) {
		t.Errorf("all: %q", got)
	}
	t.Setenv(Variable, "quick")
	l := &listener{TB: t}
	if got := Some(l, "letters", 20, 20, all); !slices.Equal(got, all) || len(l.said) != 0 {
		t.Errorf("more than there are: %q, said %q", got, l.said)
	}
}

// A folder that was renamed would lose its place without a word.
func TestTheFoldersThatRunOnceExist(t *testing.T) {
	for _, dir := range slices.Concat(Sequential(), programs, racedThere) {
		if _, err := os.Stat(filepath.Join("..", "..", "..", filepath.FromSlash(dir))); err != nil {
			t.Error(err)
		}
	}
	for _, dir := range racedThere {
		isBelow := func(above string) bool { return strings.HasPrefix(dir, above+"/") }
		if Once(dir) || !slices.ContainsFunc(programs, isBelow) {
			t.Errorf("%s: once %t, below one of programs %t", dir, Once(dir), slices.ContainsFunc(programs, isBelow))
		}
	}
}
