package systems

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/repeat"
)

// within bounds every wait. It is no measurement.
const within = repeat.Enough

// saying is a line that a process has printed for the test.
type saying struct {
	by   *process
	text string
}

// process is a program of the system, in Java or Go, and the taps to its servers: one for each.
type process struct {
	stage   *stage
	name    string
	taps    []*tap
	servers string // the taps' addresses, between commas
	command func() *exec.Cmd
	bare    bool // all its lines are for the test, not only those that begin with "> "

	cmd    *exec.Cmd // nil: it does not run
	in     io.WriteCloser
	ended  chan struct{} // closed when all its output has been read
	killed *atomic.Bool
}

// process adds a process that does not run yet, with its own taps.
func (s *stage) process(name string) *process {
	s.t.Helper()
	p := &process{stage: s, name: name}
	var addrs []string
	for _, addr := range s.servers.addrs() {
		tap, err := newTap(addr)
		ok(s.t, err)
		s.t.Cleanup(tap.close)
		p.taps = append(p.taps, tap)
		addrs = append(addrs, tap.addr())
	}
	p.servers = strings.Join(addrs, ",")
	s.processes = append(s.processes, p)
	s.t.Cleanup(p.kill)
	return p
}

// java has the process run a class of the system's, with these arguments, and starts it. Arguments that begin with
// a dash are java's.
func (p *process) java(class string, arguments ...string) *process {
	p.stage.t.Helper()
	options := []string{"-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"}
	own := slices.IndexFunc(arguments, func(a string) bool { return !strings.HasPrefix(a, "-") })
	options = slices.Concat(options, arguments[:own], []string{"-cp", p.stage.classPath, class}, arguments[own:])
	p.command = func() *exec.Cmd { return exec.Command("java", options...) }
	p.start()
	return p
}

// start starts the process, and returns when it is ready.
func (p *process) start() {
	t := p.stage.t
	t.Helper()
	p.cmd = p.command()
	p.cmd.Dir = p.stage.dir(p.name)
	log, err := os.OpenFile(filepath.Join(p.cmd.Dir, "output.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	ok(t, err)
	p.cmd.Stderr = log
	p.in, err = p.cmd.StdinPipe()
	ok(t, err)
	out, err := p.cmd.StdoutPipe()
	ok(t, err)
	from := p.stage.now()
	ok(t, p.cmd.Start())
	p.killed, p.ended = &atomic.Bool{}, make(chan struct{})
	go func(killed *atomic.Bool, ended chan struct{}) {
		defer close(ended)
		defer log.Close()
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if text, said := strings.CutPrefix(lines.Text(), "> "); said || p.bare {
				p.stage.hear(p, text)
			} else {
				fmt.Fprintln(log, lines.Text())
			}
		}
		if !killed.Load() {
			p.stage.hear(p, endedByItself)
		}
	}(p.killed, p.ended)
	p.await(from, "ready")
}

const endedByItself = "ended by itself"

// await waits until the process has said something that begins with these words, after a position, and returns the
// rest.
func (p *process) await(from int, words string) string {
	p.stage.t.Helper()
	return p.stage.await(from, p.name+" to say "+words, func(s saying) bool {
		return s.by == p && (s.text == words || strings.HasPrefix(s.text, words+" "))
	}).after(words)
}

func (s saying) after(words string) string {
	return strings.TrimSpace(strings.TrimPrefix(s.text, words))
}

// do has the process carry out a command, and returns what it found.
func (p *process) do(words ...any) string {
	t := p.stage.t
	t.Helper()
	from := p.stage.now()
	command := strings.TrimSuffix(fmt.Sprintln(words...), "\n")
	_, err := io.WriteString(p.in, command+"\n")
	ok(t, err)
	said := p.stage.await(from, p.name+" to do "+command, func(s saying) bool {
		return s.by == p && (strings.HasPrefix(s.text, "done") || strings.HasPrefix(s.text, "failed"))
	})
	if strings.HasPrefix(said.text, "failed") {
		t.Fatalf("%s: %s: %s\n%s", p.name, command, said.text, p.stage.picture())
	}
	return said.after("done")
}

func (p *process) runs() bool { return p.cmd != nil }

// revived waits until a process, whose session the test has ended, ends by itself, and starts it again.
func (s *stage) revived(p *process) string {
	s.t.Helper()
	p.await(s.from, endedByItself)
	p.kill()
	p.start()
	return "its process ends by itself and is started again"
}

// kill kills the process (SIGKILL), and returns when it has ended.
func (p *process) kill() {
	if p.cmd == nil {
		return
	}
	p.killed.Store(true)
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
	_ = p.cmd.Wait()
	p.in.Close()
	p.cmd = nil
}

// has reports whether a session is the process's.
func (p *process) has(session int64) bool {
	return slices.ContainsFunc(p.taps, func(tap *tap) bool { return tap.has(session) })
}

// expire ends a session of the process.
func (p *process) expire(session int64) {
	p.stage.t.Helper()
	for _, tap := range p.taps {
		if tap.has(session) {
			tap.setFaulty(true)
			defer tap.setFaulty(false)
			ok(p.stage.t, tap.expire(session))
			return
		}
	}
	p.stage.t.Fatalf("%s has no session 0x%x", p.name, session)
}

// hear notes what a process has said.
func (s *stage) hear(by *process, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, saying{by, text})
	close(s.more)
	s.more = make(chan struct{})
}

// now returns the position after everything that was said so far.
func (s *stage) now() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.said)
}

// between returns what a process has said from a position on, up to the first line that is the last one given.
func (s *stage) between(p *process, from int, last string) (said []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.said[from:] {
		if one.by == p {
			if one.text == last {
				break
			}
			said = append(said, one.text)
		}
	}
	return said
}

// await waits for the first saying from a position on for which wanted holds.
func (s *stage) await(from int, what string, wanted func(saying) bool) saying {
	s.t.Helper()
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	for at := from; ; at++ {
		s.mu.Lock()
		for at >= len(s.said) {
			more := s.more
			s.mu.Unlock()
			select {
			case <-more:
			case <-deadline.C:
				s.t.Fatalf("gave up waiting for %s.\n%s", what, s.picture())
			}
			s.mu.Lock()
		}
		said := s.said[at]
		s.mu.Unlock()
		if wanted(said) {
			return said
		}
		if said.text == endedByItself && !s.mayEnd {
			s.t.Fatalf("%s ended while the test waited for %s.\n%s", said.by.name, what, s.picture())
		}
	}
}

// heard waits until a condition holds, looking again after each saying.
func (s *stage) heard(what string, holds func() bool) {
	s.t.Helper()
	from := s.now()
	if holds() {
		return
	}
	s.await(from, what, func(saying) bool { return holds() })
}

// picture describes what was said last, and the end of each process's output.
func (s *stage) picture() string {
	var b strings.Builder
	s.mu.Lock()
	for _, said := range s.said[max(0, len(s.said)-40):] {
		fmt.Fprintf(&b, "  %s: %s\n", said.by.name, said.text)
	}
	s.mu.Unlock()
	for _, p := range s.processes {
		text, _ := os.ReadFile(filepath.Join(s.dir(p.name), "output.log"))
		fmt.Fprintf(&b, "%s wrote:\n%s\n", p.name, text[max(0, len(text)-3000):])
	}
	return b.String()
}
