//go:build linux

package chaos

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent/test/ensemble"
	"github.com/incumbent-go/incumbent/test/selection"
	"github.com/incumbent-go/incumbent/test/story"
)

var (
	seed    = flag.Uint64("seed", 1, "what the faults, and the lengths of terms, are drawn from")
	minutes = flag.Float64("minutes", 0, "how long the faults go on; by default as test/selection says: 90 s or 20 s")
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

// TestChaos is the run. What is asked of this library's lines is everything; of the others, that their violations are
// found: without them the harness would prove nothing.
func TestChaos(t *testing.T) {
	if *minutes < 0 || *session <= 0 {
		t.Fatalf("-minutes %g -session %s: want times above 0", *minutes, *session)
	}
	o := options{seed: *seed, long: time.Duration(*minutes * float64(time.Minute)), kinds: chosen(t), session: *session}
	if o.long == 0 {
		o.long = 90 * time.Second
		if *only == "" { // make chaos plays the recipes, too
			o.kinds = slices.DeleteFunc(slices.Clone(o.kinds), func(k kind) bool { return slices.Contains(recipes, k) })
		}
		if !selection.Full(t, "20 s of 1m30s of faults, to this library's latches alone") {
			o.long, o.kinds = 20*time.Second, latches
		}
	}
	o.opening = slices.Contains(o.kinds, byDeaf)
	if slices.Contains(o.kinds, byCurator) {
		o.classes = story.Compile(t, filepath.Join("java", "Candidate.java"))
	}
	o.dir = folder(t, o)
	all := run(t, o)
	t.Logf("seed %d, %.0f s of faults, session timeout %s\n\n%s", o.seed, o.long.Seconds(), o.session, tables(all))
	for _, o := range all {
		if o.kind.promised() {
			demand(t, o)
		}
	}
	if o.opening && o.session <= 6*time.Second {
		i := slices.IndexFunc(all, func(o *outcome) bool { return o.kind == byDeaf })
		if sum, _ := total(all[i].together); sum < time.Second || len(all[i].beyond) == 0 {
			t.Errorf("with the heartbeat off two believed at once for %s only: the faults, or the looks, do not work", sum)
		}
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
		t.Logf("seed %d. %s has the clients' logs, the plan, what was done when, beliefs, nodes and saves.\n"+
			"The same faults once more: make chaos MINUTES=%g SEED=%d ARGS='-session %s -only %s'. One log: go run ./cmd/incumbent replay --print %s/%s-s0-1.log",
			o.seed, dir, o.long.Minutes(), o.seed, o.session, wordsOf(o.kinds), dir, o.kinds[0].word())
	})
	return dir
}

// run plays a seed and returns what came of each line.
func run(t *testing.T, o options) []*outcome {
	t.Helper()
	e := ensemble.Start(t, ensemble.Options{})
	s := set(t, o, e)
	rest := o.long
	if o.opening {
		rest -= s.terms().patient + o.session
	}
	p := draw(o.seed, rest, s.terms(), slots, len(o.kinds))
	s.write("plan.txt", func(say func(string, ...any)) { say("%s", p) })
	began := monotonic()
	s.open()
	s.play(p)
	whole := time.Duration(monotonic() - began)
	s.note("the faults are over")
	for _, what := range kindsOfFaults() {
		if p.has(what) != s.counts[what] {
			t.Errorf("%s: planned %d times, and done %d times", what, p.has(what), s.counts[what])
		}
	}
	var all []*outcome
	for _, k := range o.kinds {
		all = append(all, &outcome{kind: k, whole: whole})
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
		one.arrivals = s.store.arrivals(one.kind.word())
	}
	s.keep(all)
	history, nodes := s.truth()
	t.Logf("%d nodes; the servers' times are known to %s; faults: %v", len(nodes), doubt(nodes).Round(10*time.Microsecond), s.counts)
	for _, one := range all {
		own := slices.DeleteFunc(slices.Clone(nodes), func(n node) bool { return !strings.HasPrefix(n.path, one.kind.path()+"/") })
		if !one.borneOut(own) {
			t.Errorf("%s: seen at rest, and not in the servers' logs: %v", one.kind, one.seen)
		}
		one.verdict = judge(one.kind, one.clients, own, one.arrivals, history, o.session)
		one.linear = words[linearizable(one.clients, time.Minute)]
	}
	s.replay()
	return all
}

// words are porcupine's.
var words = map[porcupine.CheckResult]string{porcupine.Ok: "yes", porcupine.Illegal: "no", porcupine.Unknown: "not known"}

// demand holds a line of this library against what is promised.
func demand(t *testing.T, o *outcome) {
	t.Helper()
	for _, s := range o.together {
		t.Errorf("%s: two believed at once for %s, %d-%d", o.kind, s.length(), s.from, s.to)
	}
	for _, b := range o.beyond {
		t.Errorf("%s: %s believed for %s %s, %d-%d", o.kind, b.id, b.span.length(), b.why, b.span.from, b.span.to)
	}
	for what, n := range map[string]int{"stale saves were accepted": o.accepted, "tokens were not the node's czxid": o.forged,
		"second nodes stayed": o.orphans, "tokens shrank": o.shrunk, "nodes too many at rest": o.surplus, "clients out of line at rest": o.missing} {
		if n != 0 {
			t.Errorf("%s: %d %s", o.kind, n, what)
		}
	}
	if !o.settled {
		t.Errorf("%s: the line did not come to rest with a leader", o.kind)
	}
	if o.linear != "yes" {
		t.Errorf("%s: is the register linearizable? %s", o.kind, o.linear)
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
	saves := slices.ContainsFunc(o.arrivals, func(a arrival) bool { return a.verb == save && a.taken })
	if o.terms == 0 || o.kind.alternates() && !saves {
		t.Errorf("%s: %d terms, and did anybody save? %t", o.kind, o.terms, saves)
	}
}
