package play

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/why"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/group"
)

// ownership is a time in which a participant might own a shard, as the lanes show it. Times are microseconds since
// 1970.
type ownership struct {
	who               string
	shard             int64
	from, to          int64
	stopped, returned int64 // -1: never
	token             int64
	open, two         bool
}

// ownerships returns those of a document, by shard, in the order of their tokens.
func ownerships(pic why.Picture) (all []*ownership) {
	for _, g := range pic.Groups {
		for n := g.Terms; len(n) > 0; n = n[11:] {
			from := g.Since + n[2]
			s := &ownership{who: pic.Logs[g.Members[n[1]].Log].Name, shard: n[0], from: from, to: from + n[4],
				stopped: -1, returned: -1, token: n[7], open: n[5] < 0, two: n[10] == why.TermTwo}
			if n[5] >= 0 {
				s.stopped = from + n[5]
			}
			if n[6] >= 0 {
				s.returned = from + n[6]
			}
			all = append(all, s)
		}
	}
	return all
}

// owned returns when a participant owned shards, in the order of the times; "" is everybody.
func (p *played) owned(who string) (all []*ownership) {
	for _, s := range ownerships(p.Document.Picture) {
		if who == "" || s.who == who {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b *ownership) int { return int(a.from - b.from) })
	return all
}

// ownedBy returns what a participant owned at a moment.
func (p *played) ownedBy(who string, at int64) (all []*ownership) {
	for _, s := range p.owned(who) {
		if s.from <= at && at < s.to {
			all = append(all, s)
		}
	}
	return all
}

// ownerAfter returns the next owner of a shard, nil for none.
func (p *played) ownerAfter(s *ownership) *ownership {
	for _, o := range p.owned("") {
		if o.shard == s.shard && o.token > s.token {
			return o
		}
	}
	return nil
}

// ownerBefore returns the owner of a shard before.
func (p *played) ownerBefore(s *ownership) *ownership {
	all := p.owned("")
	slices.Reverse(all)
	for _, o := range all {
		if o.shard == s.shard && o.token < s.token {
			return o
		}
	}
	return nil
}

// ended returns when the ensemble ended a participant's first node.
func (p *played) ended(who string) int64 { return p.lane(who).Nodes[0].To }

// TestLanesHaveWhoOwnsShards: a lane says that a participant owns a shard as long as the world knows that it may
// believe so; and that two do only if that promise is broken.
func TestLanesHaveWhoOwnsShards(t *testing.T) {
	owned, moved := 0, 0
	moments(t, "shards", func(what string, a *Answer) {
		for _, p := range a.Participants {
			var shown []int
			for _, s := range ownerships(a.Document.Picture) {
				if s.who == p.Name && s.open {
					shown = append(shown, int(s.shard))
				}
				if !s.open {
					moved++
				}
				if s.two && len(a.Broken) == 0 {
					t.Errorf("%s: shard %d is marked, and no promise is broken", what, s.shard)
				}
			}
			slices.Sort(shown)
			owned += len(p.Shards)
			if (p.Dead || p.May <= a.Now) && len(p.Shards) > 0 {
				t.Errorf("%s: %s owns %v, and may not believe", what, p.Name, p.Shards)
			}
			if !p.Dead && !p.Frozen && p.May > a.Now && !slices.Equal(shown, p.Shards) {
				t.Errorf("%s: %s owns %v, and its lane says %v", what, p.Name, p.Shards, shown)
			}
		}
	})
	if owned == 0 || moved == 0 {
		t.Errorf("%d owned, %d given up", owned, moved)
	}
}

// ownsAlways has members see that nobody owns anything, but what they own themselves.
func ownsAlways(r *run, c *world.Client, _ events.ID, ev *events.Event) {
	if ev.Kind == events.ReplyStat && strings.HasPrefix(ev.Path, machines.ShardMembers(path)+"/") {
		group.OwnsNothing(ev, r.name(c))
	}
}

// ownsDeaf is ownsAlways, and alice and bob do not hear that the assignment has changed.
func ownsDeaf(r *run, c *world.Client, id events.ID, ev *events.Event) {
	ownsAlways(r, c, id, ev)
	if ev.Kind == events.WatchChanged && c.ID() < 3 && ev.Path == machines.ShardAssignment(path) {
		ev.Path = path + "/none"
	}
}

// TestTheLanesHaveTwoOwners: where a bug gives a shard two owners, the promise is broken, and the lanes and the verdict
// say so.
func TestTheLanesHaveTwoOwners(t *testing.T) {
	s, err := ParseLink("1;shards;usual;3+1;20;work=1~5:kill:alice~20:start:dave@30")
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRun(s, s.Until)
	if err != nil {
		t.Fatal(err)
	}
	r.bug = &Bug{posting: ownsDeaf}
	if err := r.until(s, s.Until); err != nil {
		t.Fatal(err)
	}
	d, err := r.document(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	marked, broken := map[string]bool{}, map[string]bool{}
	for _, o := range ownerships(d.Picture) {
		if o.two {
			marked[fmt.Sprintf("shard %d at once", o.shard)] = true
		}
	}
	for _, v := range r.promises.broken {
		if v.promise == oneOwner {
			broken[v.text[strings.Index(v.text, "shard "):strings.Index(v.text, ", with")]] = true
		}
	}
	if len(marked) == 0 || fmt.Sprint(marked) != fmt.Sprint(broken) || d.Picture.Verdict != why.TwoAtOnce {
		t.Errorf("marked %v, broken %v: %s", marked, broken, d.Picture.Verdict)
	}
}
