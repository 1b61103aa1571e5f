package play

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/page"
	"github.com/incumbent-go/incumbent/internal/why"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
)

// records reads the records of a client.
type records struct{ left []events.Record }

// Next implements why.Reader.
func (r *records) Next() (events.Record, error) {
	if len(r.left) == 0 {
		return events.Record{}, io.EOF
	}
	next := r.left[0]
	r.left = r.left[1:]
	return next, nil
}

// header returns the first line of a participant's log.
func (r *run) header() events.Header {
	return events.Header{
		Options: map[string]string{machines.OptionTick: scenarioNamed(r.script.Scenario).tick.String()},
		Start:   time.UnixMilli(beginMillis).UTC().Format(time.RFC3339Nano),
		StartAt: int64(world.Epoch), Clock: "boottime", Boot: "the world's",
	}
}

// document returns what happened as package page draws it: the records after those that the page has, and the charts
// that it does not have.
func (r *run) document(after map[string]uint64, drawn []string) (*page.Document, error) {
	var logs []*why.Log
	var rows []*page.Rows
	header := r.header()
	for i, name := range r.script.Participants() {
		kept := page.Keep(header, &records{r.records[i]}, page.Whole)
		l, err := why.Read(name, header, kept)
		if err != nil {
			return nil, fmt.Errorf("play: %w", err)
		}
		logs, rows = append(logs, l), append(rows, kept)
	}
	doc, err := page.NewWithout(why.Explain(logs, r.txns, why.Options{OwnClocks: true}), rows, after, drawn)
	if err != nil {
		return nil, err
	}
	r.date(doc)
	return doc, nil
}

// date gives each transaction the moment at which it was committed: the ensemble's log has only the millisecond of its
// proposal.
func (r *run) date(doc *page.Document) {
	for i := range doc.Picture.Txns {
		x := &doc.Picture.Txns[i]
		if zxid, err := strconv.ParseInt(x.Zxid, 0, 64); err == nil && x.Exact {
			at := sinceEpoch(r.commits[zxid])
			x.From, x.To = at, at
		}
	}
}
