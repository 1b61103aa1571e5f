package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/why"
)

// Detail says how much of each record is kept.
type Detail int

// Details.
const (
	Whole   Detail = iota // effects, paths and texts, too
	Unnamed               // only what has no names: for a report that is redacted
)

// row is what is kept of a record.
type row struct {
	seq, cause, at               int64 // at: microseconds since the log's start
	machine, kind, from, row, to string
	tried, effects, facts        string
	zxid                         int64
	flags                        int64
}

// Bits of a row's flags.
const (
	flagHeartbeat = 1 << iota
	flagInner
)

// Rows are the records of one log, for a page. Make one with Keep, and read the log through it.
type Rows struct {
	r       why.Reader
	header  events.Header
	detail  Detail
	full    [][]row // the blocks before rows: of a log with a budget
	rows    []row
	strings map[string]string // so that each is kept once
	charts  map[string]string // by recipe: the digest of the chart that the log ran
	wall    int64             // of Header.StartAt, nanoseconds since 1970
	budget  *Budget
	dropped bool // rows before these were not kept
	below   bool // the last record's was not kept
	spent   bool // the budget is
}

// Keep returns a reader that keeps what it reads for a page.
func Keep(header events.Header, r why.Reader, detail Detail) *Rows {
	return &Rows{r: r, header: header, detail: detail, strings: map[string]string{}, charts: map[string]string{}}
}

// KeepPart keeps the records of a part of a log. It reads up to its end, or up to what cannot be read.
func KeepPart(header events.Header, r why.Reader, detail Detail, part why.Part) *Rows {
	k := Keep(header, r, detail)
	for {
		rec, err := r.Next()
		k.noteChart(rec)
		var gap *events.Gap
		switch {
		case errors.As(err, &gap):
		case err != nil || rec.Seq > part.To:
			k.r = why.NoRecords{} // what it remembers is large
			return k
		case rec.Seq >= part.From:
			k.add(rec)
		}
	}
}

// Next returns the next record of the reader behind it.
func (k *Rows) Next() (events.Record, error) {
	rec, err := k.r.Next()
	if err != nil {
		if k.budget != nil && errors.Is(err, io.EOF) {
			k.strings, k.r = nil, ended{torn: k.Torn(), end: k.End()} // what they remember is large
		}
		return rec, err
	}
	k.noteChart(rec)
	if k.budget == nil || k.budget.takes(k, rec.Event.At) {
		k.add(rec)
	}
	return rec, err
}

// noteChart notes the chart of a machine that a record opened.
func (k *Rows) noteChart(r events.Record) {
	if r.Chart != "" {
		k.charts[r.Event.Recipe] = r.Chart
	}
}

// noteCharts notes the charts of a checkpoint's machines, which the first part of its text names.
func (k *Rows) noteCharts(c *events.Checkpoint) {
	if c == nil || c.Part > 1 {
		return
	}
	var head struct {
		Engine struct {
			Recipes []struct{ Name, Chart string } `json:"recipes"`
		} `json:"engine"`
	}
	if json.Unmarshal(c.State, &head) != nil { // a replay says what is wrong with it
		return
	}
	for _, r := range head.Engine.Recipes {
		k.charts[r.Name] = r.Chart
	}
}

// ended is a reader that is at its end, with how its log ended.
type ended struct {
	why.NoRecords
	torn bool
	end  *events.End
}

func (e ended) Torn() bool { return e.torn }

func (e ended) End() *events.End { return e.end }

// Torn reports whether the log's last line had no end.
func (k *Rows) Torn() bool {
	t, ok := k.r.(interface{ Torn() bool })
	return ok && t.Torn()
}

// End returns the log's last line, if the log was ended in order.
func (k *Rows) End() *events.End {
	if e, ok := k.r.(interface{ End() *events.End }); ok {
		return e.End()
	}
	return nil
}

// EachNote has take called with each line that is no record.
func (k *Rows) EachNote(take func(events.Note)) {
	all := take
	take = func(n events.Note) {
		k.noteCharts(n.Checkpoint)
		all(n)
	}
	switch r := k.r.(type) {
	case *events.Reader:
		r.Notes = take
	case *events.Segments:
		r.Notes = take
	case interface{ EachNote(func(events.Note)) }:
		r.EachNote(take)
	}
}

func (k *Rows) add(r events.Record) {
	kept := row{seq: int64(r.Seq), cause: int64(r.Cause), at: (r.Event.At - k.header.StartAt) / 1000,
		zxid:    r.Event.Zxid,
		machine: k.once(string(r.Machine)), kind: k.once(string(r.Event.Kind)), from: k.once(r.From),
		row: k.once(r.Row), to: k.once(r.To),
		tried: k.once(strings.Join(r.Tried, "\n"))}
	if r.Heartbeat() {
		kept.flags |= flagHeartbeat
	}
	if r.Internal {
		kept.flags |= flagInner
	}
	if k.detail == Whole {
		kept.effects, kept.facts = k.effects(r), facts(r.Event)
		if !k.budget.Spent() { // else most of them go again
			kept.effects, kept.facts = k.once(kept.effects), k.once(kept.facts)
		}
	}
	k.rows = append(k.rows, kept)
}

func (k *Rows) once(s string) string {
	if known, ok := k.strings[s]; ok {
		return known
	}
	k.strings[s] = s
	return s
}

// effects returns a record's effects, a line each. A deadline is given since the log's start.
func (k *Rows) effects(r events.Record) string {
	all := make([]string, len(r.Effects))
	for i, e := range r.Effects {
		text := e.String()
		if d, _ := e.(events.Deadline); d.Until != 0 {
			text = fmt.Sprintf("valid until %+.3f s", time.Duration(d.Until-k.header.StartAt).Seconds())
		}
		all[i] = strings.ReplaceAll(text, "\n", `\n`)
	}
	return strings.Join(all, "\n")
}

// facts returns what an event says, as text.
func facts(ev events.Event) string {
	var all []string
	add := func(name, value string) {
		if value != "" {
			all = append(all, name+" "+value)
		}
	}
	add("timer", ev.Name)
	add("code", string(ev.Code))
	add("path", ev.Path)
	if ev.Zxid != 0 {
		add("zxid", "0x"+strconv.FormatInt(ev.Zxid, 16))
	}
	add("server", ev.Server)
	if ev.Address != ev.Server {
		add("address", ev.Address)
	}
	add("end", string(ev.End))
	if ev.Paused != 0 {
		add("paused", time.Duration(ev.Paused).String())
	}
	if n := len(ev.Children); n > 0 {
		add("children", strconv.Itoa(n))
	}
	if ev.Stat != nil && ev.Stat.EphemeralOwner != 0 {
		add("owner", "0x"+strconv.FormatUint(uint64(ev.Stat.EphemeralOwner), 16))
	}
	add("recipe", ev.Recipe)
	add("says", ev.Text)
	return strings.Join(all, ", ")
}

// recipes returns those of the machines that have records.
func (k *Rows) recipes() map[string]bool {
	all := map[string]bool{}
	for r := range k.each() {
		all[recipeOf(r.machine)] = true
	}
	return all
}

// recipeOf returns the recipe in a machine's name: "latch-1" is a latch's, and so is "latch-semaphore-1-1", which a
// semaphore opened.
func recipeOf(machine string) string {
	recipe, _, _ := strings.Cut(machine, "-")
	return recipe
}

// errNoRows refuses a document without the rows of each log.
var errNoRows = errors.New("page: want the rows of each log of the report, in its order: read each log " +
	"through page.Keep")

// Last returns the number of the last record, 0 for none.
func (k *Rows) Last() uint64 {
	for i := len(k.full); len(k.rows) == 0 && i > 0; i-- {
		k.full, k.rows = k.full[:i-1], k.full[i-1]
	}
	if len(k.rows) == 0 {
		return 0
	}
	return uint64(k.rows[len(k.rows)-1].seq)
}
