package page

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/incumbent-go/incumbent/internal/drawing"
	"github.com/incumbent-go/incumbent/internal/why"
	"github.com/incumbent-go/incumbent/machines"
)

// Document is what a page shows. Make one with New.
type Document struct {
	Picture why.Picture `json:"picture"`
	// the directory that is served, whose logs these are; "" if it is none
	Dir     string            `json:"dir,omitempty"`
	Charts  map[string]string `json:"charts"`  // by recipe: the picture of its chart
	Strings []string          `json:"strings"` // which the rows name by their indexes
	Logs    []LogRows         `json:"logs"`
}

// LogRows has the records of one log: rowLength numbers each. Seq, the reading of the clock and
// the cause are differences, to the row before and to the row itself.
type LogRows struct {
	Name        string   `json:"name"`
	OtherCharts []string `json:"otherCharts,omitempty"` // recipes whose chart was another one when the log was written
	Rows        []int64  `json:"rows"`
}

// rowLength is how many numbers a row has: decode.js knows it.
const rowLength = 13

// New returns the document of a report. Rows has those of each log, in the order in which the report got them. After
// says, by the log's name, after which record its rows are wanted; nil wants all.
func New(r *why.Report, rows []*Rows, after map[string]uint64) (*Document, error) {
	return NewWithout(r, rows, after, nil)
}

// NewWithout is New without the pictures of the charts of some recipes: those that the page has.
func NewWithout(r *why.Report, rows []*Rows, after map[string]uint64, drawn []string) (*Document, error) {
	d := &Document{Picture: r.Picture(), Charts: map[string]string{}, Logs: []LogRows{}}
	table := map[string]int64{}
	used := map[string]bool{}
	if len(rows) != len(d.Picture.Logs) {
		return nil, errNoRows
	}
	for i, l := range d.Picture.Logs {
		k := rows[i]
		for recipe := range k.recipes() {
			used[recipe] = !slices.Contains(drawn, recipe)
		}
		d.Logs = append(d.Logs, LogRows{l.Name, k.otherCharts(), d.encode(k, int64(after[l.Name]), table)})
	}
	return d, d.draw(used)
}

// encode returns the rows after a record as numbers.
func (d *Document) encode(k *Rows, after int64, table map[string]int64) []int64 {
	all := make([]int64, 0, rowLength*(blockRows*len(k.full)+len(k.rows)))
	index := func(s string) int64 {
		i, known := table[s]
		if !known {
			i = int64(len(d.Strings))
			table[s] = i
			d.Strings = append(d.Strings, s)
		}
		return i
	}
	var seq, at int64
	for r := range k.each() {
		if r.seq <= after {
			continue
		}
		cause := int64(0)
		if r.cause > 0 {
			cause = r.seq - r.cause
		}
		all = append(all, r.seq-seq, r.at-at, index(r.machine), index(r.kind), index(r.from), index(r.row), index(r.to),
			cause, index(r.tried), index(r.effects), index(r.facts), r.zxid, r.flags)
		seq, at = r.seq, r.at
	}
	return all
}

// otherCharts returns the recipes of a log whose chart is not the one that is drawn.
func (k *Rows) otherCharts() (all []string) {
	used := k.recipes()
	for _, r := range machines.Recipes() {
		if logged := k.charts[r.Name()]; used[r.Name()] && logged != "" && logged != r.Digest() {
			all = append(all, r.Name())
		}
	}
	return all
}

// styles is the style sheet in a chart's picture: the page has its own.
var styles = regexp.MustCompile(`(?s)<style>.*?</style>\n?`)

// draw draws the charts of these recipes.
func (d *Document) draw(recipes map[string]bool) error {
	for _, r := range machines.Recipes() {
		if !recipes[r.Name()] {
			continue
		}
		picture, drawn := pictures.Load(r.Name())
		if !drawn {
			svg, err := drawing.SVG(r.Describe())
			if err != nil {
				return err
			}
			picture = styles.ReplaceAllString(svg, "")
			pictures.Store(r.Name(), picture)
		}
		d.Charts[r.Name()] = picture.(string)
	}
	return nil
}

// pictures has the charts that were drawn, by recipe: they are the same in every document.
var pictures sync.Map

// JSON returns the document as the page reads it: in ASCII, of which a browser needs one byte a character. If one
// character were another, it would need two for each, and twice the time to read them.
func (d *Document) JSON() ([]byte, error) {
	var out bytes.Buffer
	err := d.writeJSON(&out)
	return out.Bytes(), err
}

// writeJSON writes what JSON returns, a part at a time: as a whole it is large.
func (d *Document) writeJSON(w io.Writer) (err error) {
	d.Strings = slices.Clip(d.Strings)
	write := func(before string, value any) {
		data, failed := json.Marshal(value)
		err = cmp.Or(err, failed)
		if err == nil {
			_, err = io.WriteString(w, before)
		}
		if err == nil {
			err = writeASCII(w, data)
		}
	}
	write(`{"picture":`, d.Picture)
	if d.Dir != "" {
		write(`,"dir":`, d.Dir)
	}
	write(`,"charts":`, d.Charts)
	before := `,"strings":[`
	for _, s := range d.Strings {
		write(before, s)
		before = ","
	}
	if len(d.Strings) == 0 {
		_, err = io.WriteString(w, before)
	}
	before = `],"logs":[`
	for i := range d.Logs {
		write(before, &d.Logs[i])
		before = ","
	}
	if len(d.Logs) == 0 && err == nil {
		_, err = io.WriteString(w, before)
	}
	if err == nil {
		_, err = io.WriteString(w, "]}")
	}
	return err
}

// writeASCII writes JSON with an escape for each character that is not in ASCII. Only strings have such characters.
func writeASCII(w io.Writer, data []byte) error {
	const block = 1 << 16
	out := make([]byte, 0, min(block, len(data)+16))
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		switch {
		case r < utf8.RuneSelf:
			out = append(out, byte(r))
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		if data = data[n:]; len(out) < block-16 && len(data) > 0 {
			continue
		}
		if _, err := w.Write(out); err != nil {
			return err
		}
		out = out[:0]
	}
	return nil
}
