package interop

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/test/kit"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
)

// within bounds every wait. It is no measurement.
const within = repeat.Enough

// timeout is the peers' session timeout, unless a test has another: so long that a pause of the machine ends no
// session. What waits for the ends of many has brief, which is still three times the longest pause that make loaded
// makes.
const (
	timeout = 12 * time.Second
	brief   = 6 * time.Second
)

var ok = kit.OK

// stage is one line on a real server, its journal, and the output of all peers, in the
// order in which it was read.
type stage struct {
	t       testing.TB
	addr    string
	timeout time.Duration // of the peers' sessions
	root    string
	journal string
	conn    *zk.Conn
	server  *realzk.Server // where it is the stage's own

	mu   sync.Mutex
	read []saying
	more chan struct{}
}

// saying is one line that a peer wrote.
type saying struct {
	peer  *peer
	words []string
	at    time.Time
}

func newStage(t testing.TB) *stage { t.Helper(); return newStageOf(t, timeout) }

// newStageOf is newStage with another timeout.
func newStageOf(t testing.TB, timeout time.Duration) *stage {
	t.Helper()
	addr, root := realzk.Shared(t)
	conn, err := connect(addr)
	ok(t, err)
	t.Cleanup(conn.Close)
	s := &stage{t: t, addr: addr, timeout: timeout, root: root, journal: root + "/journal", conn: conn,
		more: make(chan struct{})}
	_, err = conn.Create(s.journal, nil, 0, zk.WorldACL(zk.PermAll))
	ok(t, err)
	return s
}

func (s *stage) line() string { return s.root + "/line" }

func (s *stage) hear(p *peer, line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read = append(s.read, saying{p, strings.Fields(line), time.Now()})
	close(s.more)
	s.more = make(chan struct{})
}

// await returns the first saying from a position on for which wanted holds, and the
// position after it. A peer's error is an error of the test.
func (s *stage) await(from int, what string, wanted func(saying) bool) (saying, int) {
	s.t.Helper()
	return s.awaitAny(from, what, func(said saying) bool {
		if said.words[0] == "error" {
			s.t.Fatalf("%s says %s. The last words:\n%s", said.peer.name, strings.Join(said.words, " "), s.last(40))
		}
		return wanted(said)
	})
}

// awaitAny does the same as await, but a peer's error is a saying like any other.
func (s *stage) awaitAny(from int, what string, wanted func(saying) bool) (saying, int) {
	s.t.Helper()
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	for i := from; ; i++ {
		s.mu.Lock()
		for i >= len(s.read) {
			more := s.more
			s.mu.Unlock()
			select {
			case <-more:
			case <-deadline.C:
				s.t.Fatalf("gave up waiting for %s. The last words:\n%s", what, s.last(40))
			}
			s.mu.Lock()
		}
		said := s.read[i]
		s.mu.Unlock()
		if len(said.words) > 0 && wanted(said) {
			return said, i + 1
		}
	}
}

func (s *stage) last(n int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, said := range s.read[max(0, len(s.read)-n):] {
		fmt.Fprintf(&b, "  %s %-7s %s\n", said.at.Format("15:04:05.000"), said.peer.name, strings.Join(said.words, " "))
	}
	return b.String()
}

// now returns the position after everything that was read so far.
func (s *stage) now() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.read)
}

// since returns what was read from a position on.
func (s *stage) since(from int) []saying {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.read[from:])
}

// peer is a process with members in the line.
type peer struct {
	stage   *stage
	name    string // "java", "go" or "python"
	command func() *exec.Cmd
	proxy   *proxy
	members []string

	cmd *exec.Cmd
	in  io.WriteCloser
	end chan struct{} // closed when all its output was read
}

// java and golang create peers; launch starts them.
func (s *stage) java(properties ...string) *peer {
	s.t.Helper()
	options := curator.options(s.t)
	p := s.peer("java")
	p.command = func() *exec.Cmd {
		return exec.Command("java", slices.Concat(options, properties, []string{"Peer"}, p.arguments())...)
	}
	return p
}

func (s *stage) golang() *peer { s.t.Helper(); return s.goPeer("go") }

// zk is a program of go-zookeeper, without this library.
func (s *stage) zk() *peer { s.t.Helper(); return s.goPeer("zk", "zk") }

func (s *stage) goPeer(name string, more ...string) *peer {
	s.t.Helper()
	p := s.peer(name)
	p.command = func() *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), peerArguments+"="+strings.Join(append(p.arguments(), more...), " "))
		return cmd
	}
	return p
}

func (s *stage) peer(name string) *peer {
	return &peer{stage: s, name: name, proxy: newProxy(s.t, s.addr)}
}

func (p *peer) arguments() []string {
	return []string{p.proxy.addr(), p.stage.addr, fmt.Sprint(p.stage.timeout.Milliseconds()), p.stage.journal}
}

// launch starts the process and waits until it is connected.
func (p *peer) launch() *peer {
	t := p.stage.t
	t.Helper()
	from := p.stage.now()
	p.cmd = p.command()
	p.cmd.Stderr = os.Stderr
	var err error
	p.in, err = p.cmd.StdinPipe()
	ok(t, err)
	out, err := p.cmd.StdoutPipe()
	ok(t, err)
	ok(t, p.cmd.Start())
	p.end = make(chan struct{})
	go func(end chan struct{}) {
		defer close(end)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.stage.hear(p, lines.Text())
		}
	}(p.end)
	t.Cleanup(p.kill)
	p.stage.await(from, p.name+" to be ready", func(s saying) bool { return s.peer == p && s.words[0] == "ready" })
	return p
}

// kill kills the process, and returns when it has ended.
func (p *peer) kill() {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Kill()
	<-p.end
	_ = p.cmd.Wait() // its status tells nothing but the signal
	p.cmd, p.members = nil, nil
}

func (p *peer) say(format string, args ...any) {
	p.stage.t.Helper()
	_, err := fmt.Fprintf(p.in, format+"\n", args...)
	ok(p.stage.t, err)
}

// join adds a member to the line and waits until its node exists.
func (p *peer) join(recipe, id string) {
	p.stage.t.Helper()
	p.members = append(p.members, id)
	p.say("join %s %s %s", recipe, id, p.stage.line())
	p.stage.enrolled(id)
}

func (p *peer) part(id string) {
	p.members = slices.DeleteFunc(p.members, func(m string) bool { return m == id })
}

// roll returns the line as this side reads it.
func (p *peer) roll(id string) string {
	p.stage.t.Helper()
	from := p.stage.now()
	p.say("line %s", id)
	said, _ := p.stage.await(from, "the line", func(s saying) bool {
		return s.peer == p && s.words[0] == "line" && s.words[1] == id
	})
	return strings.Join(said.words[2:], " ")
}

// enrolled waits until a node in the line has this id, and returns its name.
func (s *stage) enrolled(id string) (name string) {
	s.t.Helper()
	for deadline := time.After(within); ; {
		there, _, made, err := s.conn.ExistsW(s.line())
		ok(s.t, err)
		if there {
			var names []string
			names, _, made, err = s.conn.ChildrenW(s.line())
			ok(s.t, err)
			for _, name := range names {
				data, _, err := s.conn.Get(s.line() + "/" + name)
				if err == nil && string(data) == id {
					return name
				}
				if err != nil && !errors.Is(err, zk.ErrNoNode) {
					s.t.Fatal(err)
				}
			}
		}
		select {
		case <-made:
		case <-deadline:
			s.t.Fatalf("gave up waiting for a node of %s. The last words:\n%s", id, s.last(40))
		}
	}
}
