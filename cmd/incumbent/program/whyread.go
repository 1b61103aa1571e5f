package program

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/page"
	"github.com/incumbent-go/incumbent/internal/why"
	"github.com/incumbent-go/incumbent/machines"
)

// collectOften has the garbage collector run when the heap has grown by a half, not to twice what it was: large logs
// are read. GOGC says otherwise. It returns what ends that.
func collectOften() (end func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(50)
	return func() { debug.SetGCPercent(before) }
}

// readAll reads all logs, some at a time, and replays each while it is read. The first error, in the order of the logs,
// counts.
func (e *explainer) readAll(files []citedLog) ([]*why.Log, error) {
	reads := make([]logRead, len(files))
	turns := make(chan struct{}, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for i, f := range files {
		turns <- struct{}{}
		all.Go(func() {
			defer func() { <-turns }()
			reads[i] = e.readLog(f)
		})
	}
	all.Wait()
	logs := make([]*why.Log, len(files))
	e.tellUnreplayed(files, reads)
	e.rows, e.files = map[*why.Log]*page.Rows{}, map[*why.Log]citedLog{}
	some := slices.ContainsFunc(reads, func(r logRead) bool { return r.log != nil && r.log.Records > 0 })
	for i, r := range reads {
		var damaged *events.DamagedError
		if r.err != nil && (!errors.As(r.err, &damaged) || !some) {
			return nil, r.err
		}
		if r.err != nil {
			e.Note("%v; it is read up to there", r.err)
			r.spare(files[i], damaged, e.html != "")
		}
		logs[i] = r.log
		e.rows[r.log], e.files[r.log] = r.rows, files[i]
	}
	return logs, nil
}

// spare keeps what was read of a damaged log: of another, nothing.
func (r *logRead) spare(f citedLog, damaged *events.DamagedError, rows bool) {
	if r.log == nil {
		r.log = why.Unreadable(f.cite, damaged.Error())
	}
	r.log.Damage = damaged.Error()
	if rows && r.rows == nil {
		r.rows = page.Keep(r.log.Header, why.NoRecords{}, page.Whole)
	}
}

// tellUnreplayed says which logs were not replayed as a whole, each reason once.
func (e *explainer) tellUnreplayed(files []citedLog, reads []logRead) {
	var reasons []string
	names := map[string][]string{}
	for i, r := range reads {
		if r.unreplayed != "" && names[r.unreplayed] == nil {
			reasons = append(reasons, r.unreplayed)
		}
		names[r.unreplayed] = append(names[r.unreplayed], files[i].file)
	}
	for _, why := range reasons {
		all := names[why]
		more := ""
		if len(all) > 1 {
			more = fmt.Sprintf(" (and %s like it)", cli.Plural(len(all)-1, "other log"))
		}
		e.Note("%s%s was not replayed%s", all[0], more, why)
	}
}

// logRead is the result of reading a log.
type logRead struct {
	log        *why.Log
	rows       *page.Rows // for --html
	unreplayed string     // "" or why a part of it could not be replayed
	err        error
}

// readLog reads a log, and replays it if that is wanted.
func (e *explainer) readLog(f citedLog) (r logRead) {
	s, end, err := f.open()
	if err != nil {
		return logRead{err: logError(f, err)}
	}
	defer end()
	p := newPump(s)
	p.records = &e.progress.records
	var diverged error
	go func() {
		defer p.close()
		if !e.noReplay {
			r.unreplayed, diverged = p.replay(f.file)
		}
		p.drain()
	}()
	var reader why.Reader = &p.feed
	if e.html != "" {
		r.rows = e.keep(s.Header(), reader)
		reader = r.rows
	}
	r.log, err = why.Read(f.cite, s.Header(), reader)
	p.feed.finish()
	switch {
	case diverged != nil:
		return logRead{err: diverged}
	case err != nil:
		r.err = logError(f, err)
	}
	return r
}

// entry is a line of a log: a record, a note, or an error.
type entry struct {
	record events.Record
	note   *events.Note
	err    error
}

// batch is how many entries go from the pump to the feed at once.
const batch = 256

// pump reads a log, and gives all that it reads to its feed, which another goroutine reads.
type pump struct {
	log     *events.Segments
	feed    feed
	records *atomic.Int64 // counts those that were read; nil: nobody does
	fill    []entry
	gap     uint64 // the first record that is missing in the last gap; 0: there was none
	ended   bool
}

// feed is the end of a pump that why.Read reads.
type feed struct {
	full, empty chan []entry
	left        []entry
	all         []entry // what left is a part of
	take        func(events.Note)
	torn        bool
	end         *events.End
}

func newPump(s *events.Segments) *pump {
	p := &pump{log: s, feed: feed{full: make(chan []entry, 4), empty: make(chan []entry, 6)}}
	s.Notes, s.Results = p.note, p.result
	return p
}

// result takes what the log returned.
func (p *pump) result(r events.Record, err error) {
	p.put(entry{record: r, err: err})
	if err == nil && p.records != nil {
		p.records.Add(1)
	}
	var gap *events.Gap
	if errors.As(err, &gap) {
		p.gap = gap.From
	}
	p.ended = err != nil && gap == nil
}

func (p *pump) note(n events.Note) { p.put(entry{note: &n}) }

func (p *pump) put(e entry) {
	if p.fill == nil {
		select {
		case p.fill = <-p.feed.empty:
		default:
			p.fill = make([]entry, 0, batch)
		}
	}
	if p.fill = append(p.fill, e); len(p.fill) == batch {
		p.feed.full <- p.fill
		p.fill = nil
	}
}

// drain reads what nobody replays.
func (p *pump) drain() {
	for !p.ended {
		_, _ = p.log.Next() // the feed has the error
	}
}

// close gives what is left to the feed.
func (p *pump) close() {
	p.feed.torn, p.feed.end = p.log.Torn(), p.log.End()
	if len(p.fill) > 0 {
		p.feed.full <- p.fill
	}
	close(p.feed.full)
}

// replay replays the log, and behind gaps from the checkpoints there. It returns what could not be replayed. Its error
// is that the log is not what the machines do; it reads no further then.
func (p *pump) replay(name string) (unreplayed string, diverged error) {
	sum, err := engine.ReplaySegments(p.log, 0, machines.Recipes()...)
	var unlike *engine.Divergence
	var bad *engine.BadCheckpointError
	var chart *engine.ChartChangedError
	var model *engine.ModelChangedError
	switch {
	case errors.As(err, &unlike):
		return "",
			cli.Exit(exitDiverged,
				fmt.Errorf("%s does not replay, so it is not explained: %w; --no-replay explains it nevertheless", name,
					unlike))
	case errors.As(err, &bad):
		return "", cli.Exit(exitDamaged, fmt.Errorf("%s: %w", name, bad))
	case errors.As(err, &chart):
		return ": " + err.Error() + "; here it is explained as it was recorded", nil
	case errors.As(err, &model):
		return fmt.Sprintf(" behind its gap at record %d: %s", p.gap, err), nil
	case p.gap > sum.Last: // no checkpoint follows it
		return fmt.Sprintf(" behind its gap at record %d", p.gap), nil
	}
	return "", nil
}

// EachNote has take called with each line that is no record.
func (f *feed) EachNote(take func(events.Note)) { f.take = take }

// Torn reports whether the last line had no end. It is called at the end.
func (f *feed) Torn() bool { return f.torn }

// End returns the last line, if the log was ended in order. It is called at the end.
func (f *feed) End() *events.End { return f.end }

// Next returns the next record, or the error that the pump had.
func (f *feed) Next() (events.Record, error) {
	for {
		if len(f.left) == 0 && !f.more() {
			return events.Record{}, io.EOF
		}
		e := f.left[0]
		f.left = f.left[1:]
		switch {
		case e.note == nil:
			return e.record, e.err
		case f.take != nil:
			f.take(*e.note)
		}
	}
}

// more waits for the next entries.
func (f *feed) more() bool {
	if f.all != nil {
		clear(f.all)
		select {
		case f.empty <- f.all[:0]:
		default:
		}
	}
	f.all = <-f.full
	f.left = f.all
	return f.all != nil
}

// finish takes what the pump has left, until it is closed.
func (f *feed) finish() {
	for range f.full {
	}
}
