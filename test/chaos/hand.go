//go:build linux

package chaos

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/incumbent-go/incumbent/test/story"
)

// nursery starts processes that end with this one, however it ends: the kernel kills a child when the thread that started
// it ends, so one thread starts them all, and stays.
type nursery struct {
	jobs chan func()
	done chan struct{}
}

func newNursery() *nursery {
	n := &nursery{make(chan func()), make(chan struct{})}
	go func() {
		defer close(n.done)
		runtime.LockOSThread()
		for job := range n.jobs {
			job()
		}
	}()
	return n
}

func (n *nursery) start(cmd *exec.Cmd) (err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	done := make(chan struct{})
	n.jobs <- func() { defer close(done); err = cmd.Start() }
	<-done
	return err
}

func (n *nursery) close() { close(n.jobs); <-n.done }

// hand is one client process as its employer sees it.
type hand struct {
	orders
	slot   int
	stderr string // the file of its standard error
	cmd    *exec.Cmd
	in     io.WriteCloser
	gone   chan struct{} // closed when it has ended and everything that it said was read

	mu      sync.Mutex
	said    client
	open    span // the belief that is held now
	holds   bool
	asked   *call // not answered yet
	clock   chan int64
	left    bool
	stopped int64 // since when; 0 while it runs
	errors  []string
}

// hire starts a client.
func hire(n *nursery, o orders, slot int, classes, logs string) (*hand, error) {
	h := &hand{orders: o, slot: slot, gone: make(chan struct{}), clock: make(chan int64, 1), said: client{id: o.id}}
	if o.kind == byCurator {
		h.cmd = exec.Command("java", "-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", story.ClassPath()+":"+classes, "Candidate", o.String())
	} else {
		exe, err := os.Executable()
		if err != nil {
			return nil, err
		}
		h.cmd = exec.Command(exe)
		h.cmd.Env = append(os.Environ(), job+"="+o.String())
	}
	h.stderr = filepath.Join(logs, o.kind.word()+"-"+o.id+".stderr")
	stderr, err := os.Create(h.stderr)
	if err != nil {
		return nil, err
	}
	defer stderr.Close()
	h.cmd.Stderr = stderr
	if h.in, err = h.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := n.start(h.cmd); err != nil {
		return nil, err
	}
	go func() {
		defer close(h.gone)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			h.hear(lines.Text())
		}
		h.cmd.Wait()
		h.end()
	}()
	return h, nil
}

// hear takes a line that the client says: see worker.
func (h *hand) hear(line string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var word string
	var value, at int64
	fmt.Sscan(line, &word)
	switch word {
	case "clock":
		fmt.Sscan(line, &word, &at)
		h.clock <- at
	case "leads":
		fmt.Sscan(line, &word, &at)
		h.open, h.holds = span{at, at}, true
	case "holds", "stops":
		fmt.Sscan(line, &word, &h.open.to)
		if word == "stops" {
			h.said.beliefs = append(h.said.beliefs, h.open)
			h.holds = false
		}
	case "call":
		var v verb
		fmt.Sscan(line, &word, &v, &value, &at)
		h.asked = &call{verb: v, value: value, called: at}
	case "heard":
		var answer string
		fmt.Sscan(line, &word, &answer, &value, &at)
		if h.asked != nil {
			h.asked.heard, h.asked.taken = at, answer == "ok"
			if h.asked.verb == load {
				h.asked.value = value
			}
			h.said.calls = append(h.said.calls, *h.asked)
			h.asked = nil
		}
	case "left":
		h.left = true
	default:
		h.errors = append(h.errors, line)
	}
}

// end notes what was open when the process ended.
func (h *hand) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.holds {
		h.said.beliefs = append(h.said.beliefs, h.open)
		h.holds = false
	}
	if h.asked != nil {
		h.asked.unknown = true
		h.said.calls = append(h.said.calls, *h.asked)
		h.asked = nil
	}
	h.wake()
}

// believes reports whether the client said so last.
func (h *hand) believes() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.holds
}

func (h *hand) hasLeft() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.left
}

func (h *hand) alive() bool {
	select {
	case <-h.gone:
		return false
	default:
		return true
	}
}

func (h *hand) tell(word string) { io.WriteString(h.in, word+"\n") }

// compare asks for the client's clock: it must be ours.
func (h *hand) compare() error {
	before := monotonic()
	h.tell("clock")
	select {
	case at := <-h.clock:
		if after := monotonic(); at < before || at > after {
			return fmt.Errorf("%s's clock says %d between our %d and %d", h.id, at, before, after)
		}
	case <-h.gone:
		return fmt.Errorf("%s %s has ended: %v", h.kind, h.id, h.errors)
	case <-time.After(within):
		return fmt.Errorf("%s %s does not tell the time", h.kind, h.id)
	}
	return nil
}

// kill ends the process at once.
func (h *hand) kill() {
	h.mu.Lock()
	h.said.killed = true
	h.mu.Unlock()
	h.cmd.Process.Kill()
	<-h.gone
}

// stop stops the process in its tracks, and resume has it go on.
func (h *hand) stop() {
	h.mu.Lock()
	h.stopped = monotonic()
	h.mu.Unlock()
	h.cmd.Process.Signal(syscall.SIGSTOP)
}

func (h *hand) resume() {
	h.cmd.Process.Signal(syscall.SIGCONT)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wake()
}

func (h *hand) wake() {
	if h.stopped != 0 {
		h.said.stopped = append(h.said.stopped, span{h.stopped, monotonic()})
		h.stopped = 0
	}
}

// history returns what is known of a client that has ended.
func (h *hand) history() client {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.said
}
