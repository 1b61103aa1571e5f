//go:build linux

package chaos

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// nursery starts processes that end with this one, however it ends: the kernel kills a child when the thread that
// started it ends, so one thread starts them all, and stays.
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

// process is a process of clients: one of each line.
type process struct {
	stderr string // the file of its standard error
	cmd    *exec.Cmd
	in     io.WriteCloser
	gone   chan struct{} // closed when it has ended and everything that it said was read
	hands  map[string]*hand
}

// hire starts clients in one process.
func hire(n *nursery, all []orders, logs string) ([]*hand, error) {
	p := &process{gone: make(chan struct{}), hands: map[string]*hand{}}
	var hands []*hand
	var texts []string
	for _, o := range all {
		h := &hand{orders: o, process: p, clock: make(chan int64, 1), said: client{id: o.id},
			open: map[int]belief{}, writing: map[int64]*write{}}
		p.hands[o.kind.word()] = h
		hands, texts = append(hands, h), append(texts, o.String())
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p.cmd = exec.Command(exe)
	p.cmd.Env = append(os.Environ(), job+"="+strings.Join(texts, "\n"))
	p.stderr = filepath.Join(logs, all[0].kind.word()+"-"+all[0].id+".stderr")
	return hands, p.start(n)
}

func (p *process) start(n *nursery) error {
	stderr, err := os.Create(p.stderr)
	if err != nil {
		return err
	}
	defer stderr.Close()
	p.cmd.Stderr = stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := n.start(p.cmd); err != nil {
		return err
	}
	go func() {
		defer close(p.gone)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.hear(lines.Text())
		}
		p.cmd.Wait()
		for _, h := range p.hands {
			h.end()
		}
	}()
	return nil
}

// hear hands a line to the client that it is of. What no client says goes to all.
func (p *process) hear(line string) {
	word, rest, _ := strings.Cut(line, " ")
	if h := p.hands[word]; h != nil {
		h.hear(rest)
		return
	}
	for _, h := range p.hands {
		h.hear(line)
	}
}

func (p *process) alive() bool {
	select {
	case <-p.gone:
		return false
	default:
		return true
	}
}
