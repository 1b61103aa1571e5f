package why

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// newScene plays a world in which every cause is known: dan joins, cat is killed, dan is paused, ann is unhealthy for a
// while, somebody deletes the assignment, somebody writes another one, and bob is closed while his work goes on.
func newShardScene(t *testing.T) *sharded {
	s := newSharded(t, 1, 3, 6)
	s.run(20 * time.Second)
	s.join(3)
	s.run(20 * time.Second)
	s.do(2, func(c *world.Client) { _ = c.Kill() }, 20*time.Second)
	s.do(3, func(c *world.Client) { c.Pause(9 * time.Second) }, 30*time.Second)
	s.do(0, func(c *world.Client) { s.check(c, events.Unhealthy) }, 15*time.Second)
	s.do(0, func(c *world.Client) { s.check(c, events.OK) }, 15*time.Second)
	s.Ensemble().Operate(zkmem.Op{Code: zkmem.OpDelete, Path: "/g/assignment", Version: -1})
	s.run(15 * time.Second)
	s.reassign(t, "ann", "dan")
	s.run(3 * time.Second)
	s.lingers[1] = 2 * time.Second
	s.do(1, func(c *world.Client) { c.Ask("shards-1", events.CommandClose, events.Event{}) }, 15*time.Second)
	return s
}

// reassign has an operator write an assignment that moves a shard from one member to another.
func (s *sharded) reassign(t *testing.T, from, to string) {
	t.Helper()
	all := Explain(s.logs(t), nil, Options{}).h.plansOf("/g")
	p := all[len(all)-1]
	nodes := map[string]string{}
	for node, id := range p.ids {
		nodes[id] = node
	}
	moved := p.owners[nodes[from]][0]
	plan := machines.ShardPlan{Shards: p.shards, Owners: p.owners, IDs: p.ids,
		Leaving: map[string]machines.ShardSet{nodes[from]: {moved}}}
	plan.Owners[nodes[from]] = plan.Owners[nodes[from]][1:]
	plan.Owners[nodes[to]] = append(plan.Owners[nodes[to]], moved)
	slices.Sort(plan.Owners[nodes[to]])
	data, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	s.Ensemble().Operate(zkmem.Op{Code: zkmem.OpSetData, Path: "/g/assignment", Data: data, Version: -1})
}

// Each change of a shard's owner has its cause, the last owner and the next.
func TestEachChangeOfAShardsOwnerHasItsCause(t *testing.T) {
	s := newShardScene(t)
	r := Explain(s.logs(t), nil, Options{})
	causes := map[Cause]map[string]int{}
	begun := 0
	for _, m := range r.Moves {
		if m.To != nil {
			begun++
		}
		if m.From != nil {
			if causes[m.Ending.Cause] == nil {
				causes[m.Ending.Cause] = map[string]int{}
			}
			causes[m.Ending.Cause][m.From.who()]++
		}
		if m.From != nil && (m.To == nil || m.From.machine().shard != m.To.machine().shard) {
			t.Errorf("no next owner in %s", r.paragraph("", m))
		}
	}
	if begun != len(s.owned) {
		t.Errorf("%d terms, want %d", begun, len(s.owned))
	}
	for cause, want := range map[Cause][]string{CauseKilled: {"cat"}, CausePaused: {"dan"}, CauseUnhealthy: {"ann"},
		CauseReassigned: {"ann"}, CauseClosed: {"bob"}, CauseMoved: {"ann", "bob", "dan"}} {
		for who := range causes[cause] {
			if !slices.Contains(want, who) {
				t.Errorf("%s: %s", cause, who)
			}
		}
		if len(causes[cause]) == 0 {
			t.Errorf("no shard was lost or given up by the cause %s: %v", cause, causes)
		}
		delete(causes, cause)
	}
	if len(causes) > 0 {
		t.Errorf("other causes: %v", causes)
	}
	if r.Verdict != NeverMeasured || s.twoOwners() > 0 {
		t.Errorf("%s: %s", r.Verdict, r.Why)
	}
}

// The text names each shard, which member assigned it to which, what the next owner waited for, and the group at a
// glance.
func TestTheTextOfShards(t *testing.T) {
	s := newShardScene(t)
	r := Explain(s.logs(t), nil, Options{})
	text := strings.Join(r.Lines(true), "\n")
	for _, want := range []string{
		"Never two owners of a shard at once: measured by clocks, if cat died where its log ends",
		"/g: 6 shards as of ", "/g: Without an owner: ", "/g: Shards lost or given up: ", "bob 2 (closed)",
		"cat 2 (killed)",
		"/g: Somebody had deleted the assignment: bob wrote it again at ",
		"gave it up: bob assigned it to dan, which owned none",
		"gave it up: bob assigned it to dan, because its health check failed",
		"gave it up: somebody who is no member assigned it to dan; it had",
		"Its work returned 2.01 s later, and until then nobody else could own it",
		"bob had assigned it to itself at ", "owns it from ", "its claim was confirmed",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	if lines := r.Lines(false); len(lines) > mostLines {
		t.Errorf("%d lines", len(lines))
	}
	for _, no := range []string{"leads", "could lead", "Led:", "Without a leader"} {
		if strings.Contains(text, no) {
			t.Errorf("%q", no)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// One shard has the summary of a line, and only its moves.
func TestOneShardAlone(t *testing.T) {
	s := newShardScene(t)
	shard := 0
	for _, b := range s.owned { // one that cat had
		if b.client == 2 {
			shard = int(b.token) - 1
		}
	}
	r := Explain(s.logs(t), nil, Options{Shard: &shard})
	if len(r.Summaries) != 1 || r.Summaries[0].shard() != shard || len(r.Groups) != 0 {
		t.Fatalf("%d summaries, %d groups", len(r.Summaries), len(r.Groups))
	}
	for _, m := range r.Moves {
		if m.shard() != shard+1 {
			t.Errorf("a move of shard %d", m.shard()-1)
		}
	}
	text := strings.Join(r.Lines(false), "\n")
	for _, want := range []string{" owns it since ", "Owned: cat (token ", "Without an owner: ",
		fmt.Sprintf("/g shard %d: cat (token ", shard)} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// What the group is at a glance agrees with what its members believed.
func TestAGroupAtAGlance(t *testing.T) {
	s := newShardScene(t)
	g := Explain(s.logs(t), nil, Options{}).Groups[0]
	owners := map[string]machines.ShardSet{}
	for _, o := range g.Owners {
		owners[o.Member] = o.Shards
	}
	owned := 0
	for _, b := range s.owned {
		if b.open && b.client != 2 { // cat died with its own
			owned++
			if !owners[member(b.client)].Has(int(b.token) - 1) {
				t.Errorf("%s owns shard %d, and %v is said", member(b.client), b.token-1, owners)
			}
		}
	}
	if owned != 6 || g.Shards != 6 || len(g.Nobody)+len(g.Never)+len(g.Unknown) > 0 || g.Gaps == 0 ||
		g.Longest < 4*time.Second || g.Longest > 8*time.Second || g.Without < g.Longest {
		t.Errorf("%d are owned: %+v", owned, g)
	}
}

// Shards that nobody may take have had no owner since their members gave them up; those of members that were closed, on
// purpose.
func TestShardsWithoutAnOwner(t *testing.T) {
	for want, end := range map[string]func(*sharded, *world.Client){
		"/g: Nobody owns shards 0-3 since ": func(_ *sharded, c *world.Client) {
			c.Ask("shards-1", events.CommandClose, events.Event{})
		},
		"/g: NOBODY OWNS shards 0-3, since ": func(s *sharded, c *world.Client) { s.check(c, events.Unhealthy) },
	} {
		s := newSharded(t, 2, 2, 4)
		s.run(20 * time.Second)
		for i := range 2 {
			s.do(i, func(c *world.Client) { end(s, c) }, 10*time.Millisecond)
		}
		s.run(5 * time.Second)
		text := strings.Join(Explain(s.logs(t), nil, Options{}).Lines(false), "\n")
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// A thousand shards take no more lines than one does, and each list of shards is short.
func TestAThousandShards(t *testing.T) {
	s := newSharded(t, 1, 9, 1000)
	s.run(20 * time.Second)
	s.join(9)
	s.run(20 * time.Second)
	s.do(2, func(c *world.Client) { _ = c.Kill() }, 20*time.Second)
	r := Explain(s.logs(t), nil, Options{})
	lines := r.Lines(false)
	if len(lines) > mostLines || len(r.Moves) < 1100 {
		t.Errorf("%d lines of %d moves", len(lines), len(r.Moves))
	}
	for _, line := range lines {
		if len(line) > 1600 {
			t.Errorf("%d bytes: %.200s", len(line), line)
		}
	}
	if n := len(r.Picture().Moves); n > 100 {
		t.Errorf("%d moves are drawn", n)
	}
	if n := len(r.Picture().Machines); n != 10 {
		t.Errorf("%d lanes of 10 members", n)
	}
}

// Facts have each shard's terms and moves with its number, and the group; without names if they are redacted.
func TestTheFactsOfShards(t *testing.T) {
	s := newShardScene(t)
	logs := s.logs(t)
	path := Redact(logs, nil)("/g")
	r := Explain(logs, nil, Options{Path: path})
	types := map[string]int{}
	for f := range r.EachFact() {
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Clients() {
			if strings.Contains(string(text), member(i)) || strings.Contains(string(text), "/g") {
				t.Errorf("a name is left in %s", text)
			}
		}
		if f.Shard != nil || f.Group != nil {
			types[f.Type]++
		}
		if (f.Type == "term" || f.Type == "move") && (f.Shard == nil || *f.Shard < 0 || *f.Shard > 5) {
			t.Errorf("no shard in %s", text)
		}
	}
	if types["group"] != 1 || types["summary"] != 6 || types["term"] != len(s.owned) || types["move"] != len(r.Moves) {
		t.Errorf("%v of %d terms and %d moves", types, len(s.owned), len(r.Moves))
	}
	for _, want := range []string{" gave it up: participant", "because its health check failed"} {
		if !strings.Contains(strings.Join(r.Lines(true), "\n"), want) {
			t.Errorf("no %q", want)
		}
	}
}

// What a member owned before its log begins is known from a checkpoint: only of those shards it is open who owned them
// then.
func TestACheckpointShowsWhichShardsAreOwned(t *testing.T) {
	s := newSharded(t, 1, 2, 3)
	s.run(20 * time.Second)
	c := s.Clients()[0]
	state, err := c.Engine().Checkpoint().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	before := len(s.records[0])
	owned := machines.ShardSet{}
	for _, b := range s.owned {
		if b.client == 0 && b.open {
			owned = append(owned, int(b.token)-1)
		}
	}
	s.do(0, func(c *world.Client) { c.Ask("shards-1", events.CommandClose, events.Event{}) }, 10*time.Second)
	records := s.records[0][before:]
	first := records[0].Seq
	note := events.Note{Checkpoint: &events.Checkpoint{Seq: first - 1, State: state}}
	source := &noting{each: each{records[:3]}, notes: map[uint64][]events.Note{first: {note}}}
	l, err := Read("client0", events.Header{}, &behindGap{noting: source, gap: &events.Gap{From: 1, To: first - 1,
		Count: first - 1, Why: "the segments 1 to 1 are not there"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(owned) == 0 || len(owned) == 3 {
		t.Fatalf("ann owns %v", owned)
	}
	for shard := range 3 {
		if h := l.truncated[l.shardOf("shards-1", shard, "/g/members/x")]; (h != nil) != owned.Has(shard) {
			t.Errorf("shard %d of %v: %+v", shard, owned, h)
		}
	}
	for shard := range 3 {
		r := Explain([]*Log{l, s.log(t, s.Clients()[1], len(s.records[1]))}, nil, Options{Shard: &shard})
		says := strings.Contains(r.Why, fmt.Sprintf(" owned shard %d in a term whose beginning is missing", shard))
		if says && !owned.Has(shard) || r.Verdict != CannotTell && owned.Has(shard) {
			t.Errorf("shard %d of %v: %s: %s", shard, owned, r.Verdict, r.Why)
		}
	}
}

// The servers' transaction logs have the end of a member's node, whose token no shard has.
func TestHowAMembersNodeWent(t *testing.T) {
	s := newShardScene(t)
	ends := map[Cause]NodeEnd{CauseKilled: NodeExpired, CausePaused: NodeExpired, CauseClosed: NodeDeletedByOwn,
		CauseMoved: "", CauseUnhealthy: "", CauseReassigned: ""}
	for _, m := range Explain(s.logs(t), s.txns, Options{}).Moves {
		if m.From != nil && m.NodeEnd != ends[m.Ending.Cause] {
			t.Errorf("%s: %q, want %q", m.Ending.Cause, m.NodeEnd, ends[m.Ending.Cause])
		}
	}
}

// Moves are one line only if they are between the same members, from one term's end to one beginning.
func TestWhichMovesAreOneLine(t *testing.T) {
	r := Explain(newShardScene(t).logs(t), nil, Options{})
	same := func(a, b *Term) bool {
		return a == nil && b == nil || a != nil && b != nil && a.Log == b.Log && a.Token == b.Token
	}
	shards, all := 0, merged(r.Moves)
	for _, one := range all {
		shards += len(one.shards)
		for _, shard := range one.shards {
			if !slices.ContainsFunc(r.Moves, func(m Move) bool {
				return m.shard() == shard+1 && same(m.From, one.From) && same(m.To, one.To)
			}) {
				t.Errorf("shard %d has no such move: %s", shard, r.paragraph(one.name(), one.Move))
			}
		}
	}
	if shards != len(r.Moves) || len(all) >= shards {
		t.Errorf("%d moves are %d lines of %d", len(r.Moves), len(all), shards)
	}
}

// An assignment that no log has may have given a shard to a member whose log is not here, if there is one.
func TestAnAssignmentThatNoLogHas(t *testing.T) {
	for _, c := range []struct {
		version int32
		strange bool // a member without a log was seen
		want    int
	}{{2, true, 1}, {1, true, 0}, {0, true, 1}, {2, false, 0}} {
		l := newCrafted(1, 100).read(t, "a")
		l.nodes["/g/members/member-x"] = &node{path: "/g/members/member-x"}
		owners := map[string]machines.ShardSet{"member-x": {0}}
		l.plans = []plan{{path: "/g", zxid: 10, owners: owners},
			{path: "/g", zxid: 20, version: c.version, owners: owners}}
		if c.strange {
			l.seen["/g/members"] = map[string]uint64{"member-y": 1}
		}
		h := newHistory([]*Log{l}, nil, defaultDrift)
		got := h.strangeOwners(&line{dir: "/g/members", path: "/g", shard: 1})
		if len(got) != c.want || c.want > 0 && got[0].order != 19 {
			t.Errorf("version %d, strangers %t: %+v", c.version, c.strange, got)
		}
	}
}
