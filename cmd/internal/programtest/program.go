// Package programtest builds a program once, runs it as a user or a script does, and
// reads its output. Every wait is for an output or for an end.
package programtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// binary is the program, built once.
var binary string

// Build builds the package in the working directory as a program of that name. It
// returns a function that TestMain has to call at its end, with the exit code.
func Build(name string) (exit func(code int)) {
	dir, err := os.MkdirTemp("", name+"-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	exit = func(code int) {
		_ = os.RemoveAll(dir) // what is left is temporary
		os.Exit(code)
	}
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	binary = filepath.Join(dir, name)
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
		exit(1)
	}
	return exit
}

// Binary returns the program's file.
func Binary() string { return binary }

// Patience is the limit of every wait of a test. It decides no test that succeeds.
const Patience = 60 * time.Second

// Program is one run of the binary.
type Program struct {
	t        *testing.T
	cmd      *exec.Cmd
	In       io.WriteCloser
	Out, Err *Transcript
	ended    chan struct{}
}

// Start runs the program with these variables added to its environment.
func Start(t *testing.T, env []string, args ...string) *Program {
	t.Helper()
	return StartWith(t, env, nil, nil, args...)
}

// StartWith runs the program as Start does. If out or errs is not nil, stdout or stderr is that file, and not a
// transcript.
func StartWith(t *testing.T, env []string, out, errs *os.File, args ...string) *Program {
	t.Helper()
	cmd := exec.Command(binary, args...)
	if out != nil {
		cmd.Stdout = out
	}
	if errs != nil {
		cmd.Stderr = errs
	}
	return StartCommand(t, cmd, env)
}

// StartCommand runs a command that runs the program, with these variables added to its environment.
func StartCommand(t *testing.T, cmd *exec.Cmd, env []string) *Program {
	t.Helper()
	cmd.Env = append(append(os.Environ(), "NO_COLOR=1"), env...)
	p := &Program{t: t, cmd: cmd, Out: newTranscript(), Err: newTranscript(), ended: make(chan struct{})}
	if cmd.Stdout == nil {
		cmd.Stdout = p.Out
	}
	if cmd.Stderr == nil {
		cmd.Stderr = p.Err
	}
	var err error
	if p.In, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-p.ended
	})
	return p
}

// Pid returns the number of the program's process.
func (p *Program) Pid() int { return p.cmd.Process.Pid }

// Wait returns the exit code, when nobody holds the program's output any more:
// the processes that it started have ended, too.
func (p *Program) Wait() int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(Patience):
		p.t.Fatalf("%q has not ended\n%s", p.cmd.Args[1:], p.Said())
	}
	return p.cmd.ProcessState.ExitCode()
}

// Exits waits as Wait does, and checks the exit code.
func (p *Program) Exits(want int) *Program {
	p.t.Helper()
	if got := p.Wait(); got != want {
		p.t.Fatalf("%q exits with %d, want %d\n%s", p.cmd.Args[1:], got, want, p.Said())
	}
	return p
}

// Said returns all that the program wrote so far.
func (p *Program) Said() string {
	return fmt.Sprintf("stdout:\n%s\nstderr:\n%s", p.Out.String(), p.Err.String())
}

// Signal sends the program a signal.
func (p *Program) Signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// Prints waits until stdout holds a text.
func (p *Program) Prints(text string) { p.t.Helper(); p.await(p.Out, text) }

// PrintsMore waits until stdout holds a text after what it held before.
func (p *Program) PrintsMore(before, text string) { p.t.Helper(); p.await(p.Out, before+text) }

// Notes waits until stderr holds a text.
func (p *Program) Notes(text string) { p.t.Helper(); p.await(p.Err, text) }

func (p *Program) await(where *Transcript, text string) {
	p.t.Helper()
	deadline := time.After(Patience)
	for {
		more := where.more()
		if strings.Contains(where.String(), text) {
			return
		}
		select {
		case <-more:
		case <-p.ended:
			if !strings.Contains(where.String(), text) {
				p.t.Fatalf("%q ended without saying %q\n%s", p.cmd.Args[1:], text, p.Said())
			}
		case <-deadline:
			p.t.Fatalf("%q has not said %q\n%s", p.cmd.Args[1:], text, p.Said())
		}
	}
}

// Objects returns the JSON objects on stdout, one for each line.
func (p *Program) Objects() []map[string]any {
	p.t.Helper()
	var all []map[string]any
	for line := range strings.Lines(p.Out.String()) {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			p.t.Fatalf("not a JSON object: %q: %v", line, err)
		}
		all = append(all, o)
	}
	return all
}

// Transcript is the output of a program. A test can wait for a text in it.
type Transcript struct {
	mu   sync.Mutex
	b    bytes.Buffer
	news chan struct{}
}

func newTranscript() *Transcript { return &Transcript{news: make(chan struct{})} }

// Write adds what the program wrote.
func (s *Transcript) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.news)
	s.news = make(chan struct{})
	return s.b.Write(b)
}

// String returns all that was written so far.
func (s *Transcript) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func (s *Transcript) more() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.news
}

// Contains checks that a text has all of these parts.
func Contains(t *testing.T, text string, all ...string) {
	t.Helper()
	for _, want := range all {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}
