package live

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/segments"
	"github.com/incumbent-go/incumbent/page"
	"github.com/incumbent-go/incumbent/why"
)

// directory reads the logs of a directory again when its files have changed.
type directory struct {
	path       string
	maxRecords int

	mu      sync.Mutex
	seen    string // what the files looked like when they were read
	at      time.Time
	took    time.Duration
	report  *why.Report
	rows    []*page.Rows
	names   []string
	edition int // how often the logs were read
}

// have says, by the log's name, which record is the last that a page has.
type have map[string]uint64

// edition is what was read at one time, for a page.
type edition struct {
	number int
	doc    *page.Document
	has    have // what the page has then
}

// document returns what is recorded and not in after, all of it if after is nil; nil if the page has the last edition.
func (d *directory) document(after have, edited int) (*edition, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.refresh(); err != nil || edited == d.edition {
		return nil, err
	}
	doc, err := page.New(d.report, d.rows, after)
	if err != nil {
		return nil, err
	}
	e := &edition{d.edition, doc, have{}}
	for i, r := range d.rows {
		e.has[d.names[i]] = r.Last()
	}
	return e, nil
}

// state returns what the files look like: another text if a file grew, came or went.
func (d *directory) state() (string, error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, e := range entries {
		info, err := e.Info()
		if err != nil { // it has just gone
			continue
		}
		fmt.Fprintf(&b, "%q %d %d\n", e.Name(), info.Size(), info.ModTime().UnixNano())
	}
	return b.String(), nil
}

// changed reports whether there is something to read, and returns what the files look like. After a reading that took
// long, there is nothing for five times as long.
func (d *directory) changed() (state string, yes bool, err error) {
	if d.report != nil && time.Since(d.at) < 5*d.took {
		return d.seen, false, nil
	}
	state, err = d.state()
	return state, err == nil && (d.report == nil || state != d.seen), err
}

// refresh reads the logs if they have changed.
func (d *directory) refresh() error {
	state, yes, err := d.changed()
	if err != nil || !yes {
		return err
	}
	began := time.Now()
	logs, rows, err := d.read()
	if err != nil {
		return err
	}
	d.report, d.rows, d.seen, d.names = why.Explain(logs, nil, why.Options{}), rows, state, nil
	for _, l := range logs {
		d.names = append(d.names, l.Name)
	}
	d.edition++
	d.at = time.Now()
	d.took = d.at.Sub(began)
	return nil
}

// read reads all runs. Each is named by its host, or by its files if the host has several.
func (d *directory) read() (logs []*why.Log, rows []*page.Rows, err error) {
	runs, err := segments.Runs(d.path)
	if err != nil {
		return nil, nil, err
	}
	left, hosts := d.maxRecords, map[string]int{}
	for _, run := range runs {
		l, r, err := d.readRun(run, &left)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", filepath.Join(d.path, run.Name), err)
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

func (d *directory) readRun(run segments.Run, left *int) (*why.Log, *page.Rows, error) {
	open, end := run.Opener()
	defer end()
	s, err := events.NewSegments(open)
	if err != nil {
		return nil, nil, err
	}
	rows := page.Keep(s.Header(), &bounded{s, left, d.maxRecords}, page.Whole)
	l, err := why.Read(run.Name, s.Header(), rows)
	return l, rows, err
}

// bounded reads a log until all logs together have too many records.
type bounded struct {
	*events.Segments
	left *int
	most int
}

func (b *bounded) Next() (events.Record, error) {
	if *b.left == 0 {
		return events.Record{}, fmt.Errorf("the directory has more than %d records: incumbent why --html makes a page of some of its files", b.most)
	}
	r, err := b.Segments.Next()
	if err == nil {
		*b.left--
	}
	return r, err
}
