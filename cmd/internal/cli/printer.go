package cli

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

	"github.com/incumbent-go/incumbent/events"
)

// Printer writes lines, with colours if its file is a terminal. It is safe
// for use by several goroutines.
type Printer struct {
	w      io.Writer
	colour bool
	width  int // of the terminal; 0 if it is none

	writing sync.Mutex // one line after the other

	mu     sync.Mutex
	lines  *lineQueue // nil: Write writes
	failed error
	broken chan struct{} // closed by the first failure
}

// NewPrinter returns a printer that writes to a file.
func NewPrinter(f *os.File) *Printer {
	return &Printer{w: f, colour: colours(f), width: widthOf(f), broken: make(chan struct{})}
}

// colours reports whether the file is a terminal that wants colours: no-color.org.
func colours(f *os.File) bool {
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// HasColour reports whether the printer writes colours.
func (p *Printer) HasColour() bool { return p.colour }

// IsTerminal reports whether the printer writes to a terminal that says how wide it is.
func (p *Printer) IsTerminal() bool { return p.width > 0 }

// Failed returns the error of the first line that could not be written.
func (p *Printer) Failed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

// Broken returns a channel that is closed when a line could not be written.
func (p *Printer) Broken() <-chan struct{} { return p.broken }

// fail keeps the first error.
func (p *Printer) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed == nil {
		p.failed = err
		close(p.broken)
	}
}

// queue has a goroutine write the lines from now on.
func (p *Printer) queue(notice func(dropped int) []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lines == nil {
		p.lines = newLineQueue(p.w, notice, p.fail)
	}
}

// end waits until everything is written, or until the limit. It reports whether everything is.
func (p *Printer) end(limit <-chan time.Time) bool {
	p.mu.Lock()
	lines := p.lines
	p.mu.Unlock()
	return lines == nil || lines.end(limit)
}

// drain waits for the last lines, within a bound.
func (p *Printer) drain() {
	limit := time.NewTimer(drainTimeout)
	defer limit.Stop()
	p.end(limit.C) // what is left has no reader
}

// Line formats a text and writes it as a line. On a terminal that is too narrow for it, it is broken between words.
func (p *Printer) Line(format string, args ...any) {
	_, _ = io.WriteString(p, wrap(fmt.Sprintf(format+"\n", args...), p.width)) // Failed has the error
}

// Write writes the bytes as they are, or has them written if lines are queued.
func (p *Printer) Write(b []byte) (int, error) {
	p.mu.Lock()
	lines := p.lines
	p.mu.Unlock()
	if lines != nil {
		lines.put(b)
		return len(b), nil
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	n, err := p.w.Write(b)
	if err != nil {
		p.fail(err)
	}
	return n, err
}

// Object writes one JSON object on one line, escaped so that a terminal executes
// nothing in it.
func (p *Printer) Object(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		b = []byte(strconv.Quote(err.Error()))
	}
	_, _ = p.Write(append(events.EscapeForTerminal(b), '\n')) // Failed has the error
}

// Aligned returns rows with aligned columns.
func Aligned(rows [][]string) (lines []string) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, "  "+strings.Join(row, "\t"))
	}
	_ = w.Flush() // a strings.Builder takes everything
	for line := range strings.Lines(b.String()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return lines
}

// Table writes rows with aligned columns, the first of them as a heading. None of them is broken.
func (p *Printer) Table(rows [][]string) {
	for _, line := range Aligned(rows) {
		p.Row(line)
	}
}

// Row writes a line that is not broken, however narrow the terminal is.
func (p *Printer) Row(text string) {
	_, _ = io.WriteString(p, text+"\n") // Failed has the error
}

func (p *Printer) paint(code, s string) string {
	if !p.colour {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// Red returns the text in red, if the printer has colours.
func (p *Printer) Red(s string) string { return p.paint("31", s) }

// Green returns the text in green, if the printer has colours.
func (p *Printer) Green(s string) string { return p.paint("32", s) }

// Bold returns the text in bold, if the printer has colours.
func (p *Printer) Bold(s string) string { return p.paint("1", s) }

// Dim returns the text dimmed, if the printer has colours.
func (p *Printer) Dim(s string) string { return p.paint("2", s) }
