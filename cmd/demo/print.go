package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/incumbent-go/incumbent/events"
)

// printer writes lines, with colours where a person looks at them.
type printer struct {
	w      io.Writer
	colour bool

	mu     sync.Mutex
	failed error // the first line that could not be written
}

func newPrinter(f *os.File) *printer { return &printer{w: f, colour: colours(f)} }

// colours reports whether a person may look, and wants colours: no-color.org.
func colours(f *os.File) bool {
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func (p *printer) line(format string, args ...any) {
	p.write([]byte(fmt.Sprintf(format, args...) + "\n"))
}

func (p *printer) write(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.w.Write(b); err != nil && p.failed == nil {
		p.failed = err
	}
}

// object writes one JSON object on one line, in which a terminal finds nothing
// to obey.
func (p *printer) object(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		b = []byte(strconv.Quote(err.Error()))
	}
	p.write(append(events.Harmless(b), '\n'))
}

// table writes rows with aligned columns, the first of them as a heading.
func (p *printer) table(rows [][]string) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, "  "+strings.Join(row, "\t"))
	}
	_ = w.Flush() // a strings.Builder takes everything
	for line := range strings.Lines(b.String()) {
		p.line("%s", strings.TrimRight(line, " \n"))
	}
}

func (p *printer) paint(code, s string) string {
	if !p.colour {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p *printer) red(s string) string   { return p.paint("31", s) }
func (p *printer) green(s string) string { return p.paint("32", s) }
func (p *printer) bold(s string) string  { return p.paint("1", s) }
func (p *printer) dim(s string) string   { return p.paint("2", s) }

// longest is how much of a foreign text is shown.
const longest = 80

// quote shows foreign text such that no terminal does anything with it.
func quote(s string) string {
	if utf8.RuneCountInString(s) > longest {
		r := []rune(s)
		return strconv.Quote(string(r[:longest])) + "…"
	}
	return strconv.Quote(s)
}

// plain makes text that may hold foreign parts harmless, line by line.
func plain(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\n' || r == '\t' || r == '"' || r == '\\':
			b.WriteRune(r)
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		default:
			quoted := strconv.QuoteRune(r)
			b.WriteString(strings.ReplaceAll(quoted[1:len(quoted)-1], `\'`, "'"))
		}
	}
	return b.String()
}

// short is a duration with three figures at most.
func short(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(time.Microsecond).String()
}

// plural is "1 record", "2 records".
func plural[N int | uint64](n N, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// hex is a session's id as ZooKeeper's own tools show it.
func hex(id int64) string { return fmt.Sprintf("0x%x", uint64(id)) }
