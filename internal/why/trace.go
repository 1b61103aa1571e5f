package why

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// traceEvent is one event of the Trace Event Format, which Perfetto and Chrome read. Times are whole microseconds since
// 1970: JSON readers keep such numbers exactly.
type traceEvent struct {
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	Phase    string         `json:"ph"`
	At       int64          `json:"ts"`
	For      *int64         `json:"dur,omitempty"` // of X, 0 too
	Log      int            `json:"pid"`           // from 1
	Lane     int            `json:"tid"`           // from 1
	ID       int            `json:"id,omitempty"`
	Bind     string         `json:"bp,omitempty"`
	Scope    string         `json:"s,omitempty"`
	Args     map[string]any `json:"args,omitempty"`
}

// Kinds of lanes of a log in a trace.
var laneKinds = []string{"right to believe", "work", "connection"}

const (
	laneRight = iota // the right to believe
	laneWork         // what the work knew
	laneConnection
)

// bar is a time of a log in a trace.
type bar struct {
	kind     int // of the lane
	name     string
	from, to int64 // microseconds
	args     map[string]any
	terms    []*Term // of the right to believe
	lane     int
}

// Trace returns the terms of all logs as a trace for Perfetto or chrome://tracing: for each log the right to believe,
// what its work knew, and its connections; arrows are moves. What is at the same time has lanes of its own.
func (r *Report) Trace() ([]byte, error) {
	var all []traceEvent
	rights := map[*Term]traceEvent{}
	for i, l := range r.logs {
		all = append(all, r.traceLog(i+1, l, rights)...)
	}
	for i, m := range merged(r.Moves) {
		if m.From == nil || m.To == nil {
			continue
		}
		from, to := rights[m.From], rights[m.To]
		last := max(from.At+*from.For-1, from.At) // an arrow begins within its bar
		s := traceEvent{Name: string(m.Ending.Cause), Category: "move", Phase: "s", At: min(last, to.At), Log: from.Log,
			Lane: from.Lane, ID: i + 1}
		if s.At < from.At {
			continue // by clocks that were set, the next one began before this one
		}
		f := s
		f.Phase, f.Bind, f.At, f.Log, f.Lane = "f", "e", to.At, to.Log, to.Lane
		all = append(all, s, f)
	}
	slices.SortStableFunc(all, func(a, b traceEvent) int {
		return cmp.Or(cmp.Compare(phaseOrder(a), phaseOrder(b)), cmp.Compare(a.At, b.At))
	})
	first := int64(0)
	for _, e := range all {
		first = min(first, e.At)
	}
	for i := range all {
		if all[i].Phase != "M" {
			all[i].At -= first // no reader wants a time before 1970; logs that do not say when they began may have some
		}
	}
	return json.Marshal(map[string]any{"traceEvents": all, "displayTimeUnit": "ms"})
}

// phaseOrder puts the names of lanes first.
func phaseOrder(e traceEvent) int {
	if e.Phase == "M" {
		return 0
	}
	return 1
}

// micros returns microseconds that JSON readers keep exactly, also when the first one is subtracted.
func micros(ns int64) int64 {
	const most = 1 << 52
	return min(max(ns/1000, -most), most)
}

// traceLog returns the events of a log, and notes those of the right to believe by term.
func (r *Report) traceLog(pid int, l *Log, rights map[*Term]traceEvent) (all []traceEvent) {
	bars := r.bars(l)
	lanes := layOut(bars)
	all = append(all,
		traceEvent{Name: "process_name", Phase: "M", Log: pid, Lane: 1, Args: map[string]any{"name": l.Name}})
	for i, name := range lanes {
		all = append(all,
			traceEvent{Name: "thread_name", Phase: "M", Log: pid, Lane: i + 1, Args: map[string]any{"name": name}},
			traceEvent{Name: "thread_sort_index", Phase: "M", Log: pid, Lane: i + 1,
				Args: map[string]any{"sort_index": i}})
	}
	for _, b := range bars {
		long := b.to - b.from
		e := traceEvent{Name: b.name, Category: laneKinds[b.kind], Phase: "X", At: b.from, For: &long, Log: pid,
			Lane: b.lane, Args: b.args}
		for _, t := range b.terms {
			rights[t] = e
		}
		all = append(all, e)
	}
	for _, p := range l.pauses {
		all = append(all,
			traceEvent{Name: "did not run for " + span(p.long), Category: "pause", Phase: "i", Scope: "p",
				At: micros(r.wall(l, p.at)), Log: pid, Lane: 1, Args: map[string]any{"record": p.seq}})
	}
	return all
}

// bars returns what is drawn of a log.
func (r *Report) bars(l *Log) (all []bar) {
	add := func(b bar, from, to int64) {
		b.from = micros(r.wall(l, from))
		b.to = max(micros(r.wall(l, to)), b.from+1)
		all = append(all, b)
	}
	for _, one := range inOneLane(l.terms) {
		t := one.Term
		args := map[string]any{"token": fmt.Sprint(t.Token), "node": t.Node, "elected": t.Elected, "stopped": t.Stopped,
			"reason": t.Reason}
		name := t.who() + " " + one.dir
		if len(one.shards) > 0 {
			name += " " + shardsText(one.shards)
		}
		add(bar{kind: laneRight, name: name, args: args, terms: one.terms}, t.ElectedAt, t.rightUntil())
		end, _ := t.workEnd()
		if t.Stopped == 0 {
			end = t.Log.last
		}
		add(bar{kind: laneWork, name: t.who(), args: args}, t.ElectedAt, end)
	}
	for _, s := range l.sessions {
		for _, a := range s.attached {
			end := l.last
			if lost := s.nextSuspended(a.at); lost != nil {
				end = lost.at
			}
			add(bar{kind: laneConnection, name: a.server + " session " + hex(s.id),
				args: map[string]any{"record": a.seq}}, a.at, end)
		}
	}
	return all
}

// layOut gives each bar a lane on which nothing else is at its time, and returns the lanes' names.
func layOut(bars []bar) (names []string) {
	slices.SortStableFunc(bars, func(a, b bar) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.from, b.from))
	})
	free, kind, first := []int64(nil), -1, 0 // by lane of the present kind: until when it is taken
	for i := range bars {
		b := &bars[i]
		if b.kind != kind {
			free, kind, first = nil, b.kind, len(names)
		}
		lane := slices.IndexFunc(free, func(until int64) bool { return until <= b.from })
		if lane < 0 {
			lane = len(free)
			free = append(free, 0)
			name := laneKinds[kind]
			if lane > 0 {
				name += fmt.Sprintf(" (%d)", lane+1)
			}
			names = append(names, name)
		}
		free[lane], b.lane = b.to, first+lane+1
	}
	return names
}
