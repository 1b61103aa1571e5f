package why_test

import (
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/why"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/test/kit/group"
)

// termLength is how many numbers a time with a shard has.
const termLength = 11

// owned is a time in which a member might own a shard, decoded.
type owned struct {
	shard, member                   int64
	from, sure, right, stopped, end int64
	token, first, last, mark        int64
}

// explained returns what why says of logs, and its only group.
func explained(t *testing.T, logs []*group.Log, o why.Options, redact bool) (*why.Report, why.PictureShards, []owned) {
	t.Helper()
	var all []*why.Log
	for _, l := range logs {
		one, err := why.Read(l.Name, l.Header, l)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	if redact {
		why.Redact(all, nil)
	}
	o.OwnClocks = true
	r := why.Explain(all, nil, o)
	groups := r.Picture().Groups
	if len(groups) != 1 {
		t.Fatalf("%d groups", len(groups))
	}
	var terms []owned
	for n := groups[0].Terms; len(n) > 0; n = n[termLength:] {
		terms = append(terms, owned{n[0], n[1], n[2], n[2] + n[3], n[2] + n[4], n[5], n[6], n[7], n[8], n[9], n[10]})
	}
	return r, groups[0], terms
}

// killed is m0, which writes the assignment: it knows that at once.
var killed = world.Action{At: int64(5 * time.Second), Do: world.Kill}

// joins plays three members, and a fourth that begins after 20 s.
func joins(t *testing.T, deaf bool, more ...world.Action) []*group.Log {
	t.Helper()
	logs, err := group.Play(4, 12, 40*time.Second, deaf,
		append([]world.Action{{At: int64(20 * time.Second), Do: world.Start, Who: 3}}, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	return logs
}

// A shard that moves has a new owner after the right of the last one has ended and its work has returned, with a
// greater token, and after it was assigned to that.
func TestThePictureOfAMove(t *testing.T) {
	r, g, terms := explained(t, joins(t, false), why.Options{}, false)
	moves := 0
	for i, b := range terms {
		if i == 0 || terms[i-1].shard != b.shard || b.from < int64(20*time.Second/time.Microsecond) {
			continue
		}
		a := terms[i-1]
		moves++
		if a.right > b.from || a.from+a.end > b.from || a.token >= b.token || a.member == b.member ||
			a.end-a.stopped < 1e6 {
			t.Errorf("shard %d: %+v, then %+v", b.shard, a, b)
		}
		assigned := int64(-1)
		for p := g.Plans; len(p) > 0; p = p[5:] {
			if p[0] == b.shard && p[1] == b.member {
				assigned = p[2]
			}
		}
		if assigned < a.from || assigned > a.from+a.stopped+1e6 {
			t.Errorf("shard %d was assigned at %d: %+v, then %+v", b.shard, assigned, a, b)
		}
	}
	if moves == 0 || r.Verdict == why.TwoAtOnce || g.Two || len(g.Members) != 4 || g.Shards != 12 {
		t.Errorf("%d moves, %s: %+v", moves, r.Verdict, g)
	}
}

// Two owners of a shard at once are marked.
func TestThePictureOfTwoOwners(t *testing.T) {
	r, g, terms := explained(t, joins(t, true, killed), why.Options{}, false)
	two := 0
	for i, b := range terms {
		if b.mark != why.TermTwo {
			continue
		}
		two++
		if a := terms[i-1]; a.shard != b.shard || a.member == b.member || a.right <= b.from {
			t.Errorf("shard %d is marked: %+v, then %+v", b.shard, a, b)
		}
	}
	if two == 0 || !g.Two || r.Verdict != why.TwoAtOnce {
		t.Errorf("%d times two: %s", two, r.Verdict)
	}
}

// What the logs do not show is said: an owner without a log, and records that are missing.
func TestThePictureOfAnAbsentMember(t *testing.T) {
	_, g, _ := explained(t, joins(t, false)[1:], why.Options{}, false)
	if last := g.Members[len(g.Members)-1]; last.Log != -1 || last.Who != "m0" {
		t.Errorf("%+v", g.Members)
	}
	_, g, _ = explained(t, joins(t, false)[1:], why.Options{}, true)
	for _, m := range g.Members {
		if strings.HasPrefix(m.Who, "m") {
			t.Errorf("a redacted report has %s", m.Who)
		}
	}
	for begins, bug := range map[time.Duration]bool{18 * time.Second: false, 30 * time.Second: true} {
		logs := joins(t, bug, killed)
		for _, l := range logs {
			l.Gap(func(r events.Record) bool {
				after := time.Duration(r.Event.At) - world.Epoch - begins
				return after > 0 && after < 5*time.Second
			})
		}
		if r, g, _ := explained(t, logs, why.Options{}, false); g.Two || r.Verdict == why.TwoAtOnce {
			t.Errorf("with a gap at %s: %s: %s", begins, r.Verdict, r.Why)
		}
	}
}

// A member that is killed owned its shards until its deadline at most, surely only as long as its log goes.
func TestThePictureOfAKilledMember(t *testing.T) {
	logs := joins(t, false, killed)
	_, _, terms := explained(t, logs, why.Options{}, false)
	open := 0
	for _, x := range terms {
		if x.member == 0 && x.stopped < 0 {
			open++
			if x.sure >= x.right || x.right-x.sure > 3e6 || x.end != -1 {
				t.Errorf("%+v", x)
			}
		}
	}
	if open == 0 {
		t.Error("it owned nothing")
	}
}
