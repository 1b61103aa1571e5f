package upgrade

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/test/servers/upgrade/agent"
)

// within bounds every wait. It is no measurement.
const within = repeat.Enough

var ok = kit.OK

// stage has the agents of one test, and everything that they wrote, in the order in which it was read.
type stage struct {
	t testing.TB

	mu     sync.Mutex
	lines  []line
	more   chan struct{} // closed and replaced at every line
	agents []*member
}

// line is one line that an agent wrote.
type line struct {
	from  *member
	words []string
}

func newStage(t testing.TB) *stage {
	s := &stage{t: t, more: make(chan struct{})}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("what the agents wrote last:\n%s", s.tail(40))
		}
	})
	return s
}

// member is an agent: a process, or a goroutine of this one.
type member struct {
	stage   *stage
	id      string
	version string
	in      io.WriteCloser
	process *os.Process   // nil for a goroutine
	gone    chan struct{} // closed when it has ended and all its output was read
	calls   int
}

// launch starts an agent in a process of its own, and returns when it is connected.
func (s *stage) launch(v version, id string, o agent.Orders) *member {
	s.t.Helper()
	m := s.member(id, v.name)
	cmd := v.command(o)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	ok(s.t, err)
	out, err := cmd.StdoutPipe()
	ok(s.t, err)
	ok(s.t, cmd.Start())
	m.in, m.process = in, cmd.Process
	go func() {
		defer close(m.gone)
		m.read(out)
		cmd.Wait() // its status tells nothing but the signal
	}()
	s.t.Cleanup(m.kill)
	m.awaitLine("ready")
	return m
}

func (s *stage) member(id, version string) *member {
	m := &member{stage: s, id: id, version: version, gone: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agents = append(s.agents, m)
	return m
}

func (m *member) read(out io.Reader) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		m.stage.hear(m, lines.Text())
	}
}

func (m *member) String() string { return m.id + " (" + m.version + ")" }

// leave ends the agent's input, and returns when it has closed its client and ended.
func (m *member) leave() {
	m.in.Close()
	<-m.gone
}

// kill kills the process, and returns when it has ended.
func (m *member) kill() {
	_ = m.process.Kill()
	<-m.gone
}

func (s *stage) hear(m *member, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, line{m, strings.Fields(text)})
	close(s.more)
	s.more = make(chan struct{})
}

// now returns the position behind everything that was read so far.
func (s *stage) now() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.lines)
}

// await returns the first line from a position on that is wanted, and the position behind it. An agent's "error" that
// answers no command fails the test.
func (s *stage) await(from int, what string, wanted func(line) bool) (line, int) {
	s.t.Helper()
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	for i := from; ; i++ {
		s.mu.Lock()
		for i >= len(s.lines) {
			more := s.more
			s.mu.Unlock()
			select {
			case <-more:
			case <-deadline.C:
				s.t.Fatalf("gave up waiting for %s", what)
			}
			s.mu.Lock()
		}
		said := s.lines[i]
		s.mu.Unlock()
		if len(said.words) > 0 && said.words[0] == "error" {
			s.t.Fatalf("%s: %s", said.from, strings.Join(said.words, " "))
		}
		if len(said.words) > 0 && wanted(said) {
			return said, i + 1
		}
	}
}

func (s *stage) tail(n int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	heard := slices.DeleteFunc(slices.Clone(s.lines), func(l line) bool {
		return len(l.words) > 0 && l.words[0] == "belief"
	})
	for _, said := range heard[max(0, len(heard)-n):] {
		fmt.Fprintf(&b, "  %-8s %s\n", said.from, strings.Join(said.words, " "))
	}
	return b.String()
}

// awaitLine waits until the agent has written these words, now or earlier, and returns the rest of the line.
func (m *member) awaitLine(words ...string) []string {
	m.stage.t.Helper()
	rest, _ := m.awaitFrom(0, words...)
	return rest
}

func (m *member) awaitFrom(from int, words ...string) (rest []string, next int) {
	m.stage.t.Helper()
	said, next := m.stage.await(from, fmt.Sprintf("%q of %s", words, m), func(l line) bool {
		return l.from == m && len(l.words) >= len(words) &&
			strings.Join(l.words[:len(words)], " ") == strings.Join(words, " ")
	})
	return said.words[len(words):], next
}

// call is a command that may not be answered yet.
type call struct {
	from    *member
	command string
	number  string
	begun   int
}

// begin gives the agent a command: "VERB NAME ARGUMENTS…".
func (m *member) begin(format string, args ...any) *call {
	m.stage.t.Helper()
	m.calls++
	c := &call{m, fmt.Sprintf(format, args...), strconv.Itoa(m.calls), m.stage.now()}
	_, err := io.WriteString(m.in, c.number+" "+c.command+"\n")
	ok(m.stage.t, err)
	return c
}

// result waits for the answer.
func (c *call) result() (string, error) {
	c.from.stage.t.Helper()
	rest, _ := c.from.awaitFrom(c.begun, c.number)
	if rest[0] == "ok" {
		return strings.Join(rest[1:], " "), nil
	}
	return "", errors.New(strings.Join(rest[1:], " "))
}

// answer waits for the answer of a command that has to succeed.
func (c *call) answer() string {
	c.from.stage.t.Helper()
	words, err := c.result()
	if err != nil {
		c.from.stage.t.Fatalf("%s: %s: %v", c.from, c.command, err)
	}
	return words
}

// answered reports whether the answer has come.
func (c *call) answered() bool {
	s := c.from.stage
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lines[c.begun:] {
		if l.from == c.from && len(l.words) > 0 && l.words[0] == c.number {
			return true
		}
	}
	return false
}

// do gives the agent a command that has to succeed, and returns the answer.
func (m *member) do(format string, args ...any) string {
	m.stage.t.Helper()
	return m.begin(format, args...).answer()
}
