//go:build linux

package chaos

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent/test/servers/ensemble"
)

var (
	seed    = flag.Uint64("seed", 1, "what the faults, and the lengths of terms, are drawn from")
	minutes = flag.Float64("minutes", 0, "how long the faults go on; 10 s if it is 0")
	session = flag.Duration("session", 4*time.Second, "the session timeout")
	only    = flag.String("only", "", "play these lines alone, as in mutex,queue: "+wordsOf(everybody))
	keep    = flag.Bool("keep", false, "keep the logs of a run that passes, too")
)

func TestMain(m *testing.M) {
	if text := os.Getenv(job); text != "" {
		if err := work(text); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// TestChaos is the run.
func TestChaos(t *testing.T) {
	if *minutes < 0 || *session <= 0 {
		t.Fatalf("-minutes %g -session %s: want times above 0", *minutes, *session)
	}
	o := options{seed: *seed, long: time.Duration(*minutes * float64(time.Minute)), kinds: chosen(t), session: *session}
	if o.long == 0 {
		o.long = 10 * time.Second
	}
	o.dir = folder(t, o)
	all := run(t, o)
	t.Logf("seed %d, %.0f s of faults, session timeout %s\n\n%s", o.seed, o.long.Seconds(), o.session, table(all))
	for _, o := range all {
		demand(t, o)
	}
}

// chosen returns the lines that -only names, and all if it names none.
func chosen(t *testing.T) (kinds []kind) {
	t.Helper()
	if *only == "" {
		return everybody
	}
	for word := range strings.SplitSeq(*only, ",") {
		k, ok := kindOf(word)
		switch {
		case !ok:
			t.Fatalf("-only: no line is called %q: want some of %s", word, wordsOf(everybody))
		case slices.Contains(kinds, k):
			t.Fatalf("-only: %s is there twice", word)
		}
		kinds = append(kinds, k)
	}
	return kinds
}

// folder returns where the logs of a run go. It stays when the test fails, which says where it is.
func folder(t *testing.T, o options) string {
	t.Helper()
	dir, err := os.MkdirTemp("", fmt.Sprintf("incumbent-chaos-seed-%d-", o.seed))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !t.Failed() && !*keep {
			os.RemoveAll(dir)
			return
		}
		t.Logf("seed %d. %s has the clients' logs, the plan, what was done when, beliefs, nodes and writes.\n"+
			"The same faults once more: make chaos MINUTES=%g SEED=%d ARGS='-session %s -only %s'. One log: go run "+
			"./cmd/incumbent replay --print %s/%s-s0-1.log",
			o.seed, dir, o.long.Minutes(), o.seed, o.session, wordsOf(o.kinds), dir, o.kinds[0].word())
	})
	return dir
}

// run plays a seed and returns what came of each line.
func run(t *testing.T, o options) []*outcome {
	t.Helper()
	e := ensemble.Start(t, ensemble.Options{})
	s := set(t, o, e)
	p := draw(o.seed, o.long, s.terms(), slots, len(o.kinds))
	s.write("plan.txt", func(say func(string, ...any)) { say("%s", p) })
	s.open()
	s.play(p)
	s.note("the faults are over")
	for _, what := range kindsOfFaults() {
		if p.has(what) != s.counts[what] {
			t.Errorf("%s: planned %d times, and done %d times", what, p.has(what), s.counts[what])
		}
	}
	var all []*outcome
	for _, k := range o.kinds {
		all = append(all, &outcome{kind: k})
	}
	s.settle(all)
	s.note("at rest")
	s.leave(all)
	s.balance()
	s.note("all have left")
	if left, most := s.markers(), s.killed(byQueue); left > most {
		t.Errorf("%d markers of producers are left, and %d were killed", left, most)
	}
	for _, one := range all {
		for _, h := range s.past[one.kind] {
			one.clients = append(one.clients, h.history())
			if len(h.errors) > 0 {
				t.Logf("%s %s says %q", one.kind, h.id, h.errors)
			}
		}
	}
	s.keep(all)
	history, nodes := s.truth()
	t.Logf("%d nodes; the servers' times are known to %s; faults: %v", len(nodes),
		doubt(nodes).Round(10*time.Microsecond), s.counts)
	for _, one := range all {
		own := slices.DeleteFunc(slices.Clone(nodes), func(n node) bool {
			return !strings.HasPrefix(n.path, one.kind.path()+"/")
		})
		if !one.borneOut(own) {
			t.Errorf("%s: seen at rest, and not in the servers' logs: %v", one.kind, one.seen)
		}
		if one.kind == byShards {
			one.verdict = judgeShards(one.clients, own, history, s.clocks.stamp, o.session)
			t.Logf("%d shards were taken from members that existed, want at most %d", one.moves, one.mayMove)
			continue
		}
		one.verdict = judge(one.kind, one.clients, own, history, o.session)
	}
	s.replay()
	return all
}

// demand holds a line of this library against what is promised.
func demand(t *testing.T, o *outcome) {
	t.Helper()
	for _, s := range o.together {
		t.Errorf("%s: two believed at once for %s, %d-%d", o.kind, s.length(), s.from, s.to)
	}
	for _, b := range o.beyond {
		t.Errorf("%s: %s believed for %s %s, %d-%d", o.kind, b.id, b.span.length(), b.why, b.span.from, b.span.to)
	}
	for what, n := range map[string]int{"second nodes stayed": o.orphans, "tokens shrank": o.shrunk,
		"nodes too many at rest": o.surplus, "clients out of line at rest": o.missing} {
		if n != 0 {
			t.Errorf("%s: %d %s", o.kind, n, what)
		}
	}
	if !o.settled {
		t.Errorf("%s: the line did not come to rest with a leader", o.kind)
	}
	if len(o.left) > 0 {
		t.Errorf("%s: left over: %v", o.kind, o.left)
	}
	for _, what := range o.wrong {
		t.Errorf("%s: %s", o.kind, what)
	}
	if o.writes == 0 {
		t.Errorf("%s: nothing was written", o.kind)
	}
	if o.terms == 0 {
		t.Errorf("%s: nobody ever held anything", o.kind)
	}
}
