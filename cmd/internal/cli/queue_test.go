package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// limit is the limit of every wait. It decides no test that succeeds.
const limit = time.Minute

// gate is a writer that nobody reads until it is opened.
type gate struct {
	opened chan struct{}
	asked  chan struct{} // closed by the first write
	once   sync.Once
	mu     sync.Mutex
	b      bytes.Buffer
	err    error
}

func newGate() *gate { return &gate{opened: make(chan struct{}), asked: make(chan struct{})} }

func (g *gate) Write(b []byte) (int, error) {
	g.once.Do(func() { close(g.asked) })
	<-g.opened
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return 0, g.err
	}
	return g.b.Write(b)
}

func queued(g *gate) *Printer {
	p := &Printer{w: g, broken: make(chan struct{})}
	p.queue(func(n int) []byte { return []byte(fmt.Sprintf("%d dropped\n", n)) })
	return p
}

// Lines that nobody reads hold up nobody: what does not fit is counted, and the count stands where lines are missing.
func TestALineThatNobodyReadsIsCounted(t *testing.T) {
	g := newGate()
	p := queued(g)
	p.Line("first")
	<-g.asked
	line := strings.Repeat("x", maxQueued/4)
	for range 6 {
		p.Line("%s", line)
	}
	if p.end(nothing()) {
		t.Fatal("all is written, and nobody has read it")
	}
	close(g.opened)
	if !p.end(time.After(limit)) {
		t.Fatal("the lines are not written")
	}
	want := "first\n" + strings.Repeat(line+"\n", 3) + "3 dropped\n"
	if got := g.b.String(); got != want {
		t.Errorf("written are %d bytes, want %d; at the end %q", len(got), len(want), got[max(0, len(got)-20):])
	}
}

// nothing is a limit that has passed.
func nothing() <-chan time.Time {
	over := make(chan time.Time)
	close(over)
	return over
}

// The count stands before the next line that fits.
func TestTheCountStandsWhereLinesAreMissing(t *testing.T) {
	g := newGate()
	p := queued(g)
	p.Line("first")
	<-g.asked
	p.Line("%s", strings.Repeat("x", maxQueued))
	p.Line("last")
	close(g.opened)
	if !p.end(time.After(limit)) {
		t.Fatal("the lines are not written")
	}
	if got := g.b.String(); got != "first\n1 dropped\nlast\n" {
		t.Errorf("written is %q", got)
	}
}

// A line that cannot be written is known at once.
func TestAFailureIsKnown(t *testing.T) {
	g := newGate()
	g.err = errors.New("no room")
	close(g.opened)
	p := queued(g)
	p.Line("first")
	select {
	case <-p.Broken():
	case <-time.After(limit):
		t.Fatal("nobody knows")
	}
	if !p.end(time.After(limit)) || p.Failed() != g.err {
		t.Errorf("the failure is %v", p.Failed())
	}
}

// Notes of a command that runs for long, and what they say about missing ones.
func TestALongRunningCommandSaysWhatIsMissing(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	a := New("program", nil, null, null)
	if a.stamp() != "" {
		t.Error("a line is dated before")
	}
	a.LongRunning()
	if _, err := time.Parse(TimeLayout, strings.TrimSpace(a.stamp())); err != nil {
		t.Error(err)
	}
	if got := string(a.droppedFromOut(1)); !strings.HasSuffix(got, "  1 line was dropped: nobody read them in time\n") {
		t.Errorf("%q", got)
	}
	a.JSON = true
	if got := string(a.droppedFromOut(2)); !strings.Contains(got, `"event":"dropped","lines":2}`) {
		t.Errorf("%q", got)
	}
	if err := a.drained(); err != nil {
		t.Error(err)
	}
	a.Err.drain()
}
