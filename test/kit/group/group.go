// Package group plays groups of members that share shards in simulated worlds, and returns their logs, for tests of
// what explains and draws them.
package group

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
)

// Path is the group's.
const Path = "/jobs"

// Log is what one member recorded.
type Log struct {
	Name    string
	Header  events.Header
	Records []events.Record
	read    int
	gap     *events.Gap // where the records that are missing were
	gapAt   int
}

// Gap takes records out of the log, which are in a row.
func (l *Log) Gap(missing func(events.Record) bool) {
	var left []events.Record
	for _, r := range l.Records {
		if !missing(r) {
			left = append(left, r)
			continue
		}
		if l.gap == nil {
			l.gap, l.gapAt = &events.Gap{From: r.Seq}, len(left)
		}
		l.gap.To, l.gap.Count = r.Seq, l.gap.Count+1
	}
	l.Records = left
}

// Next implements why.Reader.
func (l *Log) Next() (events.Record, error) {
	if g := l.gap; g != nil && l.read == l.gapAt {
		l.gap = nil
		return events.Record{}, g
	}
	if l.read == len(l.Records) {
		return events.Record{}, io.EOF
	}
	l.read++
	return l.Records[l.read-1], nil
}

// Play plays members m0, m1, … of which the last waits for a start, up to a moment. Work on a shard takes a second to
// return. Deaf plants a bug: only the last one hears at once that shards were assigned to others, and nobody waits for
// the others to release them.
func Play(members, shards int, until time.Duration, deaf bool, actions ...world.Action) ([]*Log, error) {
	s := world.Script{Seed: 7, Tick: 2 * time.Second, SyncLimit: 5, Timeout: 6 * time.Second, OneClock: true,
		Actions: actions}
	header := events.Header{Start: "2026-01-01T00:00:00Z", StartAt: int64(world.Epoch),
		Clock: "boottime", Boot: "the world's"}
	r := &recorder{deaf: deaf}
	for i := range members {
		name := fmt.Sprintf("m%d", i)
		s.Clients = append(s.Clients, world.Program{Recipe: "shards", Path: Path, Name: name, Works: time.Second,
			Waits:   i == members-1,
			Options: map[string]string{"shards": strconv.Itoa(shards), "settle": "2s", "instance": name}})
		r.logs = append(r.logs, &Log{Name: name, Header: header})
	}
	w, err := world.New(s, r)
	if err != nil {
		return nil, err
	}
	w.Until(int64(until))
	return r.logs, nil
}

// recorder keeps what the members record.
type recorder struct {
	world.Idle
	logs []*Log
	deaf bool
}

// Recorded implements world.Observer.
func (r *recorder) Recorded(c *world.Client, rec events.Record) {
	r.logs[c.ID()].Records = append(r.logs[c.ID()].Records, rec)
}

// Posting implements world.Observer.
func (r *recorder) Posting(c *world.Client, _ events.ID, ev *events.Event) bool {
	switch {
	case !r.deaf:
	case c.ID() < len(r.logs)-1 && ev.Kind == events.WatchChanged:
		return ev.Path != machines.ShardAssignment(Path)
	case ev.Kind == events.ReplyStat && strings.HasPrefix(ev.Path, machines.ShardMembers(Path)+"/"):
		OwnsNothing(ev, fmt.Sprintf("m%d", c.ID()))
	}
	return true
}

// OwnsNothing has a reply that shows a member's node say that the member owns nothing, unless it is this one's.
func OwnsNothing(ev *events.Event, unless string) {
	if m, err := machines.ParseShardMember(ev.Data); err == nil && m.ID != unless {
		ev.Data = fmt.Appendf(nil, `{"id":%q,"weight":%d,"maxOwned":%d,"owns":""}`, m.ID, m.Weight, m.MaxOwned)
	}
}
