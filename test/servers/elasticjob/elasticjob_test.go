package elasticjob

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// tick is the servers': session timeouts are 2 to 20 ticks.
const tick = 500 * time.Millisecond

// servers are the two servers.
var servers = map[string]func(*testing.T) string{
	"in memory": func(t *testing.T) string { return zkmem.Start(t, zkmem.Options{Tick: tick}).Addr() },
	"ZooKeeper " + string(realzk.Newest): func(t *testing.T) string {
		return realzk.Start(t, realzk.Options{Tick: tick, Release: realzk.Newest}).Addr()
	},
}

// orders are those in which the first of each kind can start.
var orders = map[*generation][]string{
	newer: {"JJGG", "JGJG", "JGGJ", "GGJJ", "GJGJ", "GJJG"},
	older: {"JGGJ"},
}

// TestJavaAndGoShareAJob plays the sample, and with -full everything.
func TestJavaAndGoShareAJob(t *testing.T) {
	t.Parallel()
	if !*full {
		sample(t)
		return
	}
	for name, start := range servers {
		for _, g := range []*generation{newer, older} {
			t.Run(name+", ElasticJob "+g.version, func(t *testing.T) { whole(t, g, start) })
		}
	}
}

// sample is a job that starts under a leader in Go, which is then killed. The server of the next leader is
// disabled and enabled, and there are more items.
func sample(t *testing.T) {
	if !selection.StartsServers(t) {
		realzk.NotRun(t, "ElasticJob (make prove starts it)")
	}
	s := newStage(t, servers["in memory"](t), newer)
	steps := killed(role{inGo, true})
	steps = append(steps, disabled(role{inGo, true})...)
	steps = append(steps, removed(role{inJava, false})...)
	s.play("GJJG", 1, append(steps, common()...))
}

// whole plays everything with instances in Java only, and then in every order with instances in both languages.
// Their time is bounded by that of Java alone.
func whole(t *testing.T, g *generation, start func(*testing.T) string) {
	const periods = 3
	var java []measure
	t.Run("JJJ", func(t *testing.T) { java = newStage(t, start(t), g).play("JJJ", periods, every(inJava)) })
	for _, order := range orders[g] {
		t.Run(order, func(t *testing.T) {
			s := newStage(t, start(t), g)
			for _, late := range bound(s.timeout+s.period, java, s.play(order, periods, every(inJava, inGo))) {
				t.Error(late)
			}
		})
	}
}

// bound returns each step that took longer than Java needed for the same one, by more than is allowed: a session
// timeout, and a period, since a step is measured up to the first whole one. Where Java alone has no such step,
// its longest counts. A step in which a leader in Java had to be reminded has no bound.
func bound(more time.Duration, java, mixed []measure) (late []string) {
	var longest time.Duration
	took := map[string]time.Duration{}
	for _, m := range java {
		took[m.step] = max(took[m.step], m.took)
		longest = max(longest, m.took)
	}
	for _, m := range mixed {
		most, known := took[strings.ReplaceAll(m.step, "Go", "Java")]
		if !known {
			most = longest
		}
		if m.took > most+more && !m.reminded {
			late = append(late, fmt.Sprintf("%s: whole after %s, in Java alone after %s, and %s more are allowed",
				m.step, m.took, most, more))
		}
	}
	return late
}

// TestTheBound: what is longer than Java's time and a session timeout is an error, and what is not, is not.
func TestTheBound(t *testing.T) {
	java := []measure{
		{step: "kill -9 of the leader in Java", took: 6 * time.Second},
		{step: "start of JJJ", took: 8 * time.Second},
	}
	for _, c := range []struct {
		step string
		took time.Duration
		want bool
	}{
		{"kill -9 of the leader in Go", 10 * time.Second, false},
		{"kill -9 of the leader in Go", 10*time.Second + 1, true},
		{"start of GJJG", 12 * time.Second, false},
		{"start of GJJG", 12*time.Second + 1, true},
	} {
		if late := bound(4*time.Second, java, []measure{{step: c.step, took: c.took}}); (len(late) == 1) != c.want {
			t.Errorf("%s in %s: %q", c.step, c.took, late)
		}
		if late := bound(0, java, []measure{{step: c.step, took: c.took, reminded: true}}); late != nil {
			t.Errorf("%s in %s, reminded: %q", c.step, c.took, late)
		}
	}
}
