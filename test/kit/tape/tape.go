// Package tape is a Config.Record that tests can wait on: the flight recorder's
// own lines tell when a machine got somewhere, so that no test polls or sleeps,
// and every test can end by replaying what its clients recorded.
package tape

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// Within bounds every wait. It is no measurement: a test that hangs fails with
// what it was waiting for.
const Within = repeat.Enough

// Tape keeps a log and the records in it.
type Tape struct {
	t testing.TB

	mu      sync.Mutex
	log     bytes.Buffer
	given   int          // bytes of the log, whole lines, that lines was given
	lines   bytes.Buffer // those of them that the reader has not read
	reader  *events.Reader
	records []events.Record
	more    chan struct{} // closed and replaced at every write
}

// New returns an empty tape. If a test in a bubble makes no progress, the end of
// its tapes is printed.
func New(t testing.TB) *Tape {
	r := &Tape{t: t, more: make(chan struct{})}
	virtual.Log(t, func() string { return r.Last(30) })
	return r
}

// Write takes what the recorder writes; a line may come in pieces.
func (r *Tape) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log.Write(p)
	close(r.more)
	r.more = make(chan struct{})
	return len(p), nil
}

// read reads what is new of the log, as far as it is whole lines. Most tests never ask for it.
func (r *Tape) read() []events.Record {
	r.t.Helper()
	if end := bytes.LastIndexByte(r.log.Bytes(), '\n') + 1; end > r.given {
		r.lines.Write(r.log.Bytes()[r.given:end])
		r.given = end
	}
	if err := r.readLines(); err != nil {
		r.t.Errorf("the log cannot be read: %v", err)
	}
	return r.records
}

// readLines reads the whole lines that are new.
func (r *Tape) readLines() (err error) {
	if r.reader == nil && r.lines.Len() > 0 {
		if r.reader, err = events.NewReader(&r.lines); err != nil {
			return err
		}
	}
	for r.reader != nil {
		rec, err := r.reader.Next()
		var gap *events.Gap
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &gap):
		case err != nil:
			return err
		default:
			r.records = append(r.records, rec)
		}
	}
	return nil
}

// Records returns the records so far.
func (r *Tape) Records() []events.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.read())
}

// Bytes returns the log so far.
func (r *Tape) Bytes() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(r.log.Bytes())
}

// Until waits until the records so far are as wanted.
func (r *Tape) Until(what string, holds func([]events.Record) bool) {
	r.t.Helper()
	deadline := time.NewTimer(Within)
	defer deadline.Stop()
	for {
		r.mu.Lock()
		ok, more := holds(r.read()), r.more
		r.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-more:
		case <-deadline.C:
			r.t.Fatalf("gave up waiting for %s. The end of the log:\n%s", what, r.Tail(30))
		}
	}
}

// State waits until a machine is in this state.
func (r *Tape) State(id events.ID, state string) {
	r.t.Helper()
	r.Until(fmt.Sprintf("%s to be %s", id, state), func(records []events.Record) bool {
		for _, rec := range slices.Backward(records) {
			if rec.Machine == id && rec.To != "" {
				return rec.To == state
			}
		}
		return false
	})
}

// Count returns how many records satisfy a condition.
func (r *Tape) Count(counts func(events.Record) bool) (n int) {
	for _, rec := range r.Records() {
		if counts(rec) {
			n++
		}
	}
	return n
}

// Effects counts a machine's effects that begin with these words.
func (r *Tape) Effects(id events.ID, prefix string) (n int) {
	for _, rec := range r.Records() {
		for _, e := range rec.Effects.Strings() {
			if rec.Machine == id && strings.HasPrefix(strip(e), prefix) {
				n++
			}
		}
	}
	return n
}

// strip takes the request number off an effect's text.
func strip(effect string) string {
	if rest, numbered := strings.CutPrefix(effect, "#"); numbered {
		_, effect, _ = strings.Cut(rest, " ")
	}
	return effect
}

// Tail returns the end of the log in short form.
func (r *Tape) Tail(n int) string {
	records := r.Records()
	var b strings.Builder
	for _, rec := range records[max(0, len(records)-n):] {
		fmt.Fprintf(&b, "  %d %s %s --%s--> %s %s %s %s\n", rec.Seq, rec.Machine, rec.From, rec.Row, rec.To,
			rec.Event.Code, rec.Event.Path, strings.Join(rec.Effects.Strings(), " | "))
	}
	return b.String()
}

// Last returns the end of the log without what went on alike: of records that differ in
// numbers only, such as those of heartbeats, the last two are there.
func (r *Tape) Last(n int) string {
	records := r.Records()
	alike := map[string]int{}
	var lines []string
	for _, rec := range slices.Backward(records) {
		what := fmt.Sprintf("%s %s --%s--> %s %s %s", rec.Machine, rec.From, rec.Row, rec.To,
			rec.Event.Code, rec.Event.Path)
		if alike[what]++; alike[what] > 2 {
			continue
		}
		if len(lines) == n {
			break
		}
		lines = append(lines,
			fmt.Sprintf("  %d at %s %s %s\n", rec.Seq, time.Duration(rec.Event.At), what,
				strings.Join(rec.Effects.Strings(), " | ")))
	}
	slices.Reverse(lines)
	return strings.Join(lines, "") + fmt.Sprintf("  of %d records, at most two of each kind\n", len(records))
}

// Replay feeds the log to fresh machines: the same must come of it.
func (r *Tape) Replay() {
	r.t.Helper()
	sum, err := engine.Replay(bytes.NewReader(r.Bytes()), 0, machines.Recipes()...)
	if err != nil {
		r.t.Errorf("the log does not replay: %v", err)
	}
	if sum.Records == 0 || sum.Torn {
		r.t.Errorf("the log is no whole one: %d records, torn %t", sum.Records, sum.Torn)
	}
}
