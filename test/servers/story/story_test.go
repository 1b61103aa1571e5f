package story

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/servers/ensemble"
)

var (
	full    = flag.Bool("full", false, "tell the story: 90 s, three real servers, and Curator")
	runs    = flag.Int("runs", 1, "how often each scenario is played")
	only    = flag.Int("only", 0, "play this scenario only, by its row in the table, from 1")
	picture = flag.String("picture", "", "where to draw the first run's timeline at the shortest timeout, as SVG")
	front   = flag.String("front", "",
		"where to draw the README's picture: the first scenario of this library, zk.Lock and Curator")
)

// TestNobodyBelievesTwice is the story, for make story-cut-off-follower. That this library's leaders give up in time is
// tested in test/servers/ensemble.
func TestNobodyBelievesTwice(t *testing.T) {
	if !*full {
		return
	}
	classPath := Compile(t, filepath.Join("java", "Belief.java"))
	e := ensemble.Start(t, ensemble.Options{})
	timeouts := []time.Duration{4 * time.Second, 6 * time.Second, 10 * time.Second, 15 * time.Second}
	var all, first []outcome
	for i, s := range scenarios {
		if *only > 0 && i != *only-1 {
			continue
		}
		for i := range *runs {
			some := run(t, e, s, timeouts, classPath)
			judge(t, some)
			all = append(all, some...)
			if i == 0 {
				first = append(first, some...)
			}
		}
	}
	t.Logf("who believes when, in the first run of each scenario\n%s", timeline(first))
	t.Logf("for how long two believed at once (%d runs of each scenario)\n\n%s", *runs, table(all))
	draw(t, *picture, shortest(first), kinds...)
	draw(t, *front, of(shortest(first), scenarios[0].name), byUs, byLock, byCurator)
	// Without this the test could not fail, and would prove nothing.
	if c := summary(all, all[0].scenario, timeouts[0], byDeaf); c.overlapped != c.runs {
		t.Errorf("with the heartbeat off two believed at once in %d of %d runs only: the stopwatch, or the cut, "+
			"does not work", c.overlapped, c.runs)
	}
}

// draw writes a picture of these kinds, if a file is named.
func draw(t *testing.T, name string, all []outcome, shown ...kind) {
	t.Helper()
	if name == "" {
		return
	}
	if err := os.WriteFile(name, []byte(svg(all, shown...)), 0o600); err != nil {
		t.Error(err)
	}
}

// judge holds the outcomes of one run against what is promised.
func judge(t *testing.T, some []outcome) {
	t.Helper()
	for _, o := range some {
		if _, most := o.overlap(); o.kind.promised() && most > 0 {
			t.Errorf("two believed at once: %s\nA %v\nB %v", o, o.a, o.b)
		}
		if len(o.a) == 0 || len(o.b) == 0 {
			t.Errorf("%s: not both led: %v, %v", o, o.a, o.b)
		}
	}
}

func shortest(all []outcome) (some []outcome) {
	for _, o := range all {
		if o.timeout == timeoutsOf(all)[0] {
			some = append(some, o)
		}
	}
	return some
}

// of returns the outcomes of one scenario.
func of(all []outcome, scenario string) (some []outcome) {
	for _, o := range all {
		if o.scenario == scenario {
			some = append(some, o)
		}
	}
	return some
}

func TestOverlapsAreAdded(t *testing.T) {
	s := func(from, to time.Duration) span { return span{from - 1, from, to, to + 1} }
	for name, c := range map[string]struct {
		a, b       []span
		sure, most time.Duration
	}{
		"apart":    {[]span{s(0, 10)}, []span{s(20, 30)}, 0, 0},
		"in doubt": {[]span{s(0, 10)}, []span{s(11, 30)}, 0, 1},
		"across":   {[]span{s(0, 10)}, []span{s(5, 30)}, 5, 7},
		"within":   {[]span{s(0, 100)}, []span{s(5, 30), s(50, 60)}, 35, 39},
		"nobody":   {nil, []span{s(5, 30)}, 0, 0},
	} {
		if sure, most := overlap(c.a, c.b); sure != c.sure || most != c.most {
			t.Errorf("%s: %d and %d, want %d and %d", name, sure, most, c.sure, c.most)
		}
	}
}
