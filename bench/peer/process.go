package peer

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// maxTail is how much of a program's standard error is kept for the error that says that it ended.
const maxTail = 4 << 10

// maxLine is the longest answer: 10,000 samples take 200 kB.
const maxLine = 16 << 20

// Process is a program that runs, as the driver sees it. Its methods are called from one goroutine.
type Process struct {
	name    string
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers chan string // closed when its output has ended
	tail    tail
}

// Start starts a program and returns its process, which need not be ready yet. The command must not have pipes.
func Start(name string, cmd *exec.Cmd) (*Process, error) {
	p := &Process{name: name, cmd: cmd, answers: make(chan string, 1)}
	cmd.Stderr = &p.tail
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("peer: %s does not start: %w", name, err)
	}
	p.in = in
	go func() {
		defer close(p.answers)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, maxLine)
		for lines.Scan() {
			p.answers <- lines.Text()
		}
	}()
	return p, nil
}

// PID returns the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Do sends a command and returns the answer. If the program reports an error, ends, or does not answer within the
// bound, that is the error. If it does not support the scenario, the error is an *UnsupportedError. After an error the
// process is of no use, except after an *UnsupportedError.
func (p *Process) Do(c Command, within time.Duration) (Answer, error) {
	if _, err := io.WriteString(p.in, c.String()+"\n"); err != nil {
		return Answer{}, fmt.Errorf("peer: %s takes no command: %w%s", p.name, err, p.tail.text())
	}
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case line, ok := <-p.answers:
		if !ok {
			return Answer{}, fmt.Errorf("peer: %s ended during %q%s", p.name, c, p.tail.text())
		}
		return p.read(c, line)
	case <-timer.C:
		return Answer{}, fmt.Errorf("peer: %s did not answer %q within %v%s", p.name, c, within, p.tail.text())
	}
}

func (p *Process) read(c Command, line string) (a Answer, err error) {
	if err := json.Unmarshal([]byte(line), &a); err != nil {
		return a, fmt.Errorf("peer: %s answered %q with %q, which is no answer: %w", p.name, c, line, err)
	}
	switch {
	case a.Unsupported != "":
		return a, &UnsupportedError{c.Scenario, c.Recipe}
	case a.Error != "":
		return a, fmt.Errorf("peer: %s: %s: %s", p.name, c, a.Error)
	}
	return a, nil
}

// Quit ends the program: first by the end of its input, and if that is not enough, by a signal. It returns when the
// program has ended.
func (p *Process) Quit(within time.Duration) error {
	p.in.Close()
	kill := time.AfterFunc(within, func() { p.cmd.Process.Kill() })
	defer kill.Stop()
	for range p.answers { // what it had still to say
	}
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("peer: %s: %w%s", p.name, err, p.tail.text())
	}
	return err
}

// tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	end []byte
}

// Write keeps the end of p.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = append(t.end, p...)
	if over := len(t.end) - maxTail; over > 0 {
		t.end = append([]byte(nil), t.end[over:]...)
	}
	return len(p), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.end) == 0 {
		return ""
	}
	return ":\n" + strings.TrimSpace(string(t.end))
}
