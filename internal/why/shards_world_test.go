package why

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/why/txnlog"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// sharded is a simulated world of members that share the shards of /g. A member works on a shard until it is withdrawn,
// and then for a while.
type sharded struct {
	*simulated
	shards  int
	lingers map[int]time.Duration // by client: how much longer its work runs
	owned   []*belief             // token is the shard's number, from 1
	deaf    int                   // a client that hears of no assignment, and seems to others to own none; -1: none
}

// newSharded begins a world of members with one clock.
func newSharded(t testing.TB, seed uint64, members, shards int) *sharded {
	s := &sharded{simulated: &simulated{dice: rand.New(rand.NewPCG(seed, 45)), records: map[int][]events.Record{}},
		lingers: map[int]time.Duration{}, shards: shards, deaf: -1}
	w, err := world.New(world.Script{Seed: int64(seed), Tick: time.Second, SyncLimit: 5, Timeout: 6 * time.Second}, s)
	if err != nil {
		t.Fatal(err)
	}
	s.World = w
	for i := range members {
		s.join(i)
	}
	return s
}

// member names a client.
func member(i int) string {
	return []string{"ann", "bob", "cat", "dan", "eve", "fay", "gil", "hal", "ida", "jim"}[i]
}

// join adds a member.
func (s *sharded) join(i int) *world.Client {
	c := s.AddClient(world.Process{})
	s.skew = append(s.skew, 0)
	seed := fmt.Sprintf("%016x%016x", s.dice.Uint64(), s.dice.Uint64())
	c.Ask(events.SessionMachine, events.CommandOpen, events.Event{Recipe: "session", Seed: seed,
		Options: s.Script().SessionOptions("bounded/-1/100ms/2s")})
	c.Ask("shards-1", events.CommandOpen, events.Event{Recipe: "shards", Path: "/g", Seed: seed,
		Options: map[string]string{"shards": fmt.Sprint(s.shards), "instance": member(i), "settle": "6s",
			"rideOut": "false", "retry": "bounded/-1/50ms/2s", "healthFailures": "1"}})
	c.Ask(events.SessionMachine, events.CommandStart, events.Event{})
	c.Ask("shards-1", events.CommandStart, events.Event{})
	return c
}

// Notice notes what a member owns, and has its work return when it does not any more.
func (s *sharded) Notice(c *world.Client, _ events.ID, n events.Notify) {
	switch n.What {
	case events.Delivered:
		s.owned = append(s.owned, &belief{c.ID(), int64(n.Work), s.Now(), c.Deadline().Until - s.ahead(c), true})
	case events.Withdrawn:
		for _, b := range s.owned {
			if b.client == c.ID() && b.token == int64(n.Work) && b.open {
				b.open, b.till = false, min(b.till, s.Now())
			}
		}
		c.RunAfter(10*time.Millisecond+s.lingers[c.ID()], func() {
			c.Post("shards-1", events.Event{Kind: events.WorkReturned, Work: n.Work})
		})
	}
}

// Published moves the end of what a member may believe.
func (s *sharded) Published(c *world.Client, _ events.Deadline) {
	for _, b := range s.owned {
		switch {
		case b.client != c.ID() || !b.open:
		case c.Deadline().Until == 0:
			b.till = min(b.till, s.Now())
		default:
			b.till = c.Deadline().Until - s.ahead(c)
		}
	}
}

// check has a member's health check succeed or fail.
func (s *sharded) check(c *world.Client, code events.Code) {
	c.Post("shards-1", events.Event{Kind: events.HealthChecked, Code: code, Text: "no disk"})
}

// run has time pass.
func (s *sharded) run(d time.Duration) { s.Until(s.Now() + int64(d)) }

// do has something done to a member, and time pass.
func (s *sharded) do(who int, what func(*world.Client), then time.Duration) {
	s.After(time.Millisecond, func() { what(s.Clients()[who]) })
	s.run(then)
}

// Posting drops the watches of the assignment that a deaf client would get.
func (s *sharded) Posting(c *world.Client, _ events.ID, ev *events.Event) bool {
	return c.ID() != s.deaf || ev.Kind != events.WatchChanged || ev.Path != "/g/assignment"
}

// Feeding hides from others what a deaf client owns.
func (s *sharded) Feeding(c *world.Client, env *events.Envelope) {
	if ev := &env.Event; s.deaf >= 0 && c.ID() != s.deaf && ev.Kind == events.ReplyStat &&
		strings.HasPrefix(string(ev.Data), `{"id":"`+member(s.deaf)+`"`) {
		of, _, _ := strings.Cut(string(ev.Data), `"owns":`)
		ev.Data = []byte(of + `"owns":""}`)
	}
}

// twoOwners returns for how long two members owned one shard at most.
func (s *sharded) twoOwners() (most time.Duration) {
	for i, a := range s.owned {
		for _, b := range s.owned[:i] {
			if a.token == b.token && a.client != b.client {
				most = max(most, time.Duration(min(a.till, b.till)-max(a.from, b.from)))
			}
		}
	}
	return most
}

// strike does something to a member, or to the group's nodes, and has time pass.
func (s *sharded) strikeMember(after time.Duration) {
	who := s.dice.IntN(len(s.Clients()))
	s.lingers[who] = time.Duration(s.dice.IntN(3)) * time.Second
	op := func(path string) {
		s.Ensemble().Operate(zkmem.Op{Code: zkmem.OpDelete, Path: path, Version: -1})
	}
	what := []func(*world.Client){
		func(c *world.Client) { _ = c.Kill() },
		func(c *world.Client) { c.Pause(time.Duration(s.dice.IntN(12)) * time.Second) },
		func(c *world.Client) { _ = c.Cut() },
		func(c *world.Client) { _ = c.Mute() },
		func(c *world.Client) { s.check(c, events.Unhealthy) },
		func(c *world.Client) { s.check(c, events.OK) },
		func(c *world.Client) { c.Ask("shards-1", events.CommandClose, events.Event{}) },
		func(*world.Client) { op("/g/assignment") },
		func(*world.Client) {
			for _, name := range s.Ensemble().Children("/g/members")[:1] {
				op("/g/members/" + name)
			}
		},
		func(*world.Client) {
			if len(s.Clients()) < 6 {
				s.join(len(s.Clients()))
			}
		},
	}[s.dice.IntN(10)]
	s.do(who, func(c *world.Client) {
		if !c.Dead() && len(s.Ensemble().Children("/g/members")) > 0 {
			what(c)
		}
	}, after)
}

// newStruck plays a world with faults.
func newStruck(t testing.TB, seed uint64) *sharded {
	s := newSharded(t, seed, 2+int(seed%3), 5)
	s.run(15 * time.Second)
	for range 6 {
		s.strikeMember(time.Duration(1+s.dice.IntN(12)) * time.Second)
	}
	s.run(20 * time.Second)
	return s
}

// What is said of the owners of shards is never wrong: with the logs of all members, without one, or if one ends early.
func TestWorldsOfShards(t *testing.T) {
	verdicts, partly, shorter := map[Verdict]int{}, map[Verdict]int{}, map[Verdict]int{}
	for seed := range uint64(selection.Of(t, "worlds", 30, 40, 200)) {
		s := newStruck(t, seed)
		var txns []txnlog.Txn
		if seed%2 == 0 {
			txns = s.txns
		}
		r := Explain(s.logs(t), txns, Options{Path: "/g"})
		verdicts[r.Verdict]++
		two := s.twoOwners()
		if never := r.Verdict == NeverProven || r.Verdict == NeverMeasured; two > 0 && never ||
			two <= 0 && r.Verdict == TwoAtOnce {
			t.Errorf("world %d: %s (%s), and two owned a shard for %s", seed, r.Verdict, r.Why, two)
		}
		if lines := r.Lines(false); len(lines) > mostLines {
			t.Errorf("world %d: %d lines", seed, len(lines))
		}
		r.Facts()
		r.Picture()
		if _, err := r.Trace(); err != nil {
			t.Error(err)
		}
		out := s.dice.IntN(len(s.Clients()))
		r = Explain(slices.Delete(s.logs(t), out, out+1), nil, Options{})
		partly[r.Verdict]++
		for _, m := range r.Moves {
			if b := s.ownedBetween(m, out); b != nil && m.From != nil && m.To != nil && len(m.strange) == 0 {
				t.Errorf("world %d without %s: it owned shard %d, and nothing is said of it in: %s", seed, member(out),
					b.token-1, r.paragraph("", m))
			}
		}
		cut := s.logs(t)
		cut[out] = s.log(t, s.Clients()[out], s.dice.IntN(len(s.records[out])))
		r = Explain(cut, nil, Options{})
		shorter[r.Verdict]++
		for _, m := range r.Moves {
			never := r.Verdict == NeverProven || r.Verdict == NeverMeasured
			if b := s.ownedBetween(m, out); b != nil && never && !strings.HasPrefix(r.Why, assumes) {
				t.Errorf("world %d: %s's log ends early, and %s is said: %s", seed, member(out), r.Verdict,
					r.paragraph("", m))
			}
		}
	}
	t.Log(verdicts, partly, shorter)
	if verdicts[CannotTell]*2 > verdicts[NeverProven]+verdicts[NeverMeasured] {
		t.Errorf("too little is said: %v", verdicts)
	}
}

// ownedBetween returns when a client owned the shard of a move between the terms of that, nil for never.
func (s *sharded) ownedBetween(m Move, client int) *belief {
	at := func(term *Term) int64 {
		for i, c := range s.Clients() {
			if fmt.Sprint("client", i) == term.Log.Name {
				return term.ElectedAt - s.ahead(c)
			}
		}
		return 0
	}
	for _, b := range s.owned {
		if m.From != nil && m.To != nil && b.client == client && b.token == int64(m.shard()) &&
			b.from > at(m.From) && b.from < at(m.To) {
			return b
		}
	}
	return nil
}

// A member that does not hear that a shard is another's, and whose node nobody reads, owns it at once with that: it is
// found.
func TestTwoOwnersAreFound(t *testing.T) {
	found := 0
	for seed := range uint64(6) {
		s := newSharded(t, seed, 2, 4)
		s.run(10 * time.Second)
		s.deaf = 0
		s.join(2)
		s.run(20 * time.Second)
		if s.twoOwners() < time.Second {
			continue
		}
		found++
		r := Explain(s.logs(t), nil, Options{})
		line := r.Lines(false)[0]
		if r.Verdict != TwoAtOnce || !strings.HasPrefix(line, "TWO OWNERS OF A SHARD AT ONCE: ann and ") {
			t.Errorf("world %d: %s: %s", seed, r.Verdict, line)
		}
	}
	if found < 3 {
		t.Errorf("two owned a shard in %d worlds", found)
	}
}
