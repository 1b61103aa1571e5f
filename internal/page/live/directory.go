package live

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/page"
	"github.com/incumbent-go/incumbent/internal/segments"
	"github.com/incumbent-go/incumbent/internal/why"
)

// retryAfter is after which time a directory that could not be read is read again, though its files are the same.
const retryAfter = 10 * time.Second

// directory reads the logs of a directory again when its files have changed.
type directory struct {
	path       string
	maxRecords int

	mu      sync.Mutex
	seen    string // what the files looked like when they were read
	at      time.Time
	took    time.Duration
	failed  error // why nothing could be read
	report  *why.Report
	rows    []*page.Rows
	names   []string
	damage  []string // what is wrong with single logs
	unread  string   // which files were not read, and why
	edition int      // how often the logs were read
}

// have says, by the log's name, which record is the last that a page has.
type have map[string]uint64

// edition is what was read at one time, for a page.
type edition struct {
	number int
	doc    *page.Document
	has    have // what the page has then
	damage string
	unread string
}

// document returns what is recorded and not in after, all of it if after is nil; nil if the page has the last edition.
func (d *directory) document(after have, edited int) (*edition, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.refresh(); err != nil || edited == d.edition {
		return nil, err
	}
	doc, err := page.New(d.report, d.rows, after)
	if doc != nil {
		doc.Dir = events.Foreign(d.path, events.MaxText)
	}
	if err != nil {
		return nil, err
	}
	e := &edition{d.edition, doc, have{}, damages(d.damage), d.unread}
	for i, r := range d.rows {
		e.has[d.names[i]] = r.Last()
	}
	return e, nil
}

// changed reports whether there is something to read, and returns what the files look like. After a reading that took
// long, there is nothing for five times as long.
func (d *directory) changed() (state string, yes bool, err error) {
	began := time.Now()
	if since := began.Sub(d.at); !d.at.IsZero() && since < 5*d.took {
		return d.seen, false, nil
	}
	state, err = segments.State(d.path)
	if err == nil && (d.at.IsZero() || state != d.seen || d.failed != nil && began.Sub(d.at) > retryAfter) {
		return state, true, nil
	}
	d.at, d.took = time.Now(), time.Since(began) // a directory of many files takes long to look at, too
	return d.seen, false, err
}

// refresh reads the logs if they have changed.
func (d *directory) refresh() error {
	state, yes, err := d.changed()
	if err != nil {
		return err
	}
	if !yes {
		return d.failed
	}
	began := time.Now()
	d.damage = nil
	others, err := segments.UnreadIn(d.path)
	if err != nil {
		return err
	}
	d.unread = unread(others)
	logs, rows, err := d.read()
	d.seen, d.failed = state, err
	if err == nil {
		d.report, d.rows, d.names = why.Explain(logs, nil, why.Options{Commands: d.commands()}), rows, nil
		for _, l := range logs {
			d.names = append(d.names, l.Name)
		}
		d.edition++
	}
	d.at = time.Now()
	d.took = d.at.Sub(began)
	return err
}

// commands reads the logs of the commands that elect and lock ran, each up to what is wrong with it.
func (d *directory) commands() (all [][]events.CommandLine) {
	files, _ := segments.CommandsIn(d.path) // an error was said of the runs
	for _, name := range files {
		in, err := segments.OpenCommands(name)
		if err != nil { // it has been deleted since
			continue
		}
		const most = 1 << 20
		lines, err := events.ReadCommandLines(io.LimitReader(in, most))
		if err != nil {
			d.damage = append(d.damage, fmt.Sprintf("%s: %v", filepath.Base(name), err))
		}
		all = append(all, lines)
		_ = in.Close() // it was only read
	}
	return all
}

// read reads all runs. Each is named by its host, or by its files if the host has several. One that is damaged is read
// up to there, and one that has no header is left out.
func (d *directory) read() (logs []*why.Log, rows []*page.Rows, err error) {
	runs, err := segments.Runs(d.path)
	if err != nil {
		return nil, nil, err
	}
	runs = segments.JoinDumps(runs)
	files := 0
	for _, run := range runs {
		files += len(run.Files)
	}
	left, hosts := newBudget(d.maxRecords, files), map[string]int{}
	for _, run := range runs {
		l, r, err := d.readRun(run, left)
		switch {
		case errors.Is(err, errTooMuch):
			return nil, nil, err
		case err != nil:
			d.damage = append(d.damage, fmt.Sprintf("%s: %v", run.Name, err))
			continue
		}
		logs, rows = append(logs, l), append(rows, r)
		hosts[l.Header.Host]++
	}
	for _, l := range logs {
		if host := l.Header.Host; host != "" && hosts[host] == 1 {
			l.Name = host
		}
	}
	return logs, rows, nil
}

func (d *directory) readRun(run segments.Run, left *budget) (*why.Log, *page.Rows, error) {
	next, end := run.Opener()
	defer end()
	s, err := events.NewSegments(func() (string, io.Reader, error) {
		name, r, err := next()
		return name, &metered{r, left}, err
	})
	if err != nil {
		return nil, nil, err
	}
	b := &bounded{Segments: s, left: left}
	rows := page.Keep(s.Header(), b, page.Whole)
	l, err := why.Read(run.Name, s.Header(), rows)
	if b.damage != nil {
		d.damage = append(d.damage, b.damage.Error())
	}
	return l, rows, err
}

// damages returns what is wrong with single logs as one text, "" for nothing.
func damages(all []string) string {
	switch n := len(all); {
	case n == 0:
		return ""
	case n > 3:
		return fmt.Sprintf("%s; and %d more logs", strings.Join(all[:3], "; "), n-3)
	}
	return strings.Join(all, "; ")
}

// unread says which files were not read, and why, "" for none. Those with the same reason stand together.
func unread(all []segments.Unread) string {
	const most = 5
	var reasons []string
	names := map[string][]string{}
	for _, u := range all[:min(len(all), most)] {
		if names[u.Why] == nil {
			reasons = append(reasons, u.Why)
		}
		names[u.Why] = append(names[u.Why], cut(u.Name))
	}
	var parts []string
	for _, reason := range reasons {
		parts = append(parts, strings.Join(names[reason], ", ")+" ("+reason+")")
	}
	switch {
	case len(all) == 0:
		return ""
	case len(all) > most:
		parts = append(parts, fmt.Sprintf("and %d more", len(all)-most))
	}
	return "Not read: " + strings.Join(parts, "; ") + ". For copied logs with other names: incumbent why --html."
}

// Unread says which files of a directory its page does not show, and why; "" for none.
func Unread(dir string) (string, error) {
	all, err := segments.UnreadIn(dir)
	return unread(all), err
}
