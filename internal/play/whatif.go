package play

import (
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/page"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
)

// Before is the other world of a what-if, up to the same moment.
type Before struct {
	Document *page.Document `json:"document"` // without records
	Deeds    []DeedOutcome  `json:"deeds"`
	Broken   []Broken       `json:"broken"`
	Digest   string         `json:"digest"`
	Parts    []Part         `json:"parts"`
}

// Part says from when on a participant differs from what it was before.
type Part struct {
	Name string `json:"name"`
	At   int64  `json:"at"` // microseconds since 1970; 0: it does not differ
	// the first record that differs, in the world after the change; 0: there it has no more records
	Seq uint64 `json:"seq"`
}

// before returns the other world of a what-if.
func (r *run) before(other *run, s Script) (*Before, error) {
	var charts []string
	for _, recipe := range machines.Recipes() {
		charts = append(charts, recipe.Name())
	}
	doc, err := other.document(nil, charts)
	if err != nil {
		return nil, err
	}
	doc.Strings = []string{}
	for i := range doc.Logs {
		doc.Logs[i].Rows = []int64{}
	}
	b := &Before{Document: doc, Deeds: other.deeds(s, TakenOut), Broken: other.violations(), Digest: other.digest(),
		Parts: []Part{}}
	for i, name := range r.script.Participants() {
		b.Parts = append(b.Parts, parts(name, r.records[i], other.records[i]))
	}
	return b, nil
}

// parts compares the records of a participant in two worlds. All clocks show the world's time.
func parts(name string, now, before []events.Record) Part {
	at := func(rec events.Record) int64 { return sinceEpoch(rec.Event.At - int64(world.Epoch)) }
	n := min(len(now), len(before))
	for i := range n {
		if !now[i].Equal(before[i]) {
			return Part{name, min(at(now[i]), at(before[i])), now[i].Seq}
		}
	}
	switch {
	case len(now) > n:
		return Part{name, at(now[n]), now[n].Seq}
	case len(before) > n:
		return Part{name, at(before[n]), 0}
	}
	return Part{Name: name}
}
