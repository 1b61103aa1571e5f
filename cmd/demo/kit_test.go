//go:build unix

package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// binary is the program, built once.
var binary string

func TestMain(m *testing.M) { os.Exit(build(m)) }

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "incumbent-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "incumbent")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
		return 1
	}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// patience bounds every wait of a test. It is no measure of anything.
const patience = 60 * time.Second

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// program is one run of the binary.
type program struct {
	t        *testing.T
	cmd      *exec.Cmd
	in       io.WriteCloser
	out, err *transcript
	ended    chan struct{}
}

// start runs the binary against a server, or none.
func start(t *testing.T, srv *zkmem.Server, args ...string) *program {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "INCUMBENT_AUTH=", "INCUMBENT_SERVERS=")
	if srv != nil {
		cmd.Env = append(cmd.Env, "INCUMBENT_SERVERS="+srv.Addr())
	}
	p := &program{t: t, cmd: cmd, out: newTranscript(), err: newTranscript(), ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.out, p.err
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
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

// wait returns the exit code, when nobody holds the program's output any more:
// what it started has ended, too.
func (p *program) wait() int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.t.Fatalf("%q has not ended\n%s", p.cmd.Args[1:], p.said())
	}
	return p.cmd.ProcessState.ExitCode()
}

// exits checks the exit code.
func (p *program) exits(want int) *program {
	p.t.Helper()
	if got := p.wait(); got != want {
		p.t.Fatalf("%q exits with %d, want %d\n%s", p.cmd.Args[1:], got, want, p.said())
	}
	return p
}

func (p *program) said() string {
	return fmt.Sprintf("stdout:\n%s\nstderr:\n%s", p.out.String(), p.err.String())
}

func (p *program) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// prints waits until stdout holds a text; notes does so for stderr.
func (p *program) prints(text string) { p.t.Helper(); p.await(p.out, text) }
func (p *program) notes(text string)  { p.t.Helper(); p.await(p.err, text) }

func (p *program) await(where *transcript, text string) {
	p.t.Helper()
	deadline := time.After(patience)
	for {
		more := where.more()
		if strings.Contains(where.String(), text) {
			return
		}
		select {
		case <-more:
		case <-p.ended:
			if !strings.Contains(where.String(), text) {
				p.t.Fatalf("%q ended without saying %q\n%s", p.cmd.Args[1:], text, p.said())
			}
		case <-deadline:
			p.t.Fatalf("%q has not said %q\n%s", p.cmd.Args[1:], text, p.said())
		}
	}
}

// objects are the JSON objects on stdout, one a line.
func (p *program) objects() []map[string]any {
	p.t.Helper()
	var all []map[string]any
	for line := range strings.Lines(p.out.String()) {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			p.t.Fatalf("not a JSON object: %q: %v", line, err)
		}
		all = append(all, o)
	}
	return all
}

// transcript is what a program wrote, to be waited for.
type transcript struct {
	mu   sync.Mutex
	b    bytes.Buffer
	news chan struct{}
}

func newTranscript() *transcript { return &transcript{news: make(chan struct{})} }

func (s *transcript) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.news)
	s.news = make(chan struct{})
	return s.b.Write(b)
}

func (s *transcript) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func (s *transcript) more() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.news
}

// inLine waits until so many nodes stand in a line.
func inLine(t *testing.T, srv *zkmem.Server, dir string, n int) {
	t.Helper()
	if err := srv.WaitFor(within(t), func(v *zkmem.View) bool { return len(v.Children(dir)) == n }); err != nil {
		srv.View(func(v *zkmem.View) { t.Fatalf("%d in line, want %d: %v", len(v.Children(dir)), n, err) })
	}
}

// owner is the session of the first in a line.
func owner(t *testing.T, srv *zkmem.Server, dir string) (node string, session int64) {
	t.Helper()
	srv.View(func(v *zkmem.View) {
		for _, name := range v.Children(dir) {
			_, stat, err := v.Get(dir + "/" + name)
			if err == nil && (session == 0 || name[len(name)-10:] < node[len(node)-10:]) {
				node, session = dir+"/"+name, stat.EphemeralOwner
			}
		}
	})
	if session == 0 {
		t.Fatalf("nobody is in line at %s", dir)
	}
	return node, session
}

// participant is a latch of this process, in line.
func participant(t *testing.T, srv *zkmem.Server, dir, id string) *incumbent.Latch {
	t.Helper()
	before := 0
	srv.View(func(v *zkmem.View) { before = len(v.Children(dir)) })
	ctx := within(t)
	c, err := incumbent.Open(ctx, incumbent.Config{Servers: srv.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("close %s: %v", id, err)
		}
	})
	l, err := c.Latch(dir, incumbent.LatchOptions{ID: id})
	if err == nil {
		err = l.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	inLine(t, srv, dir, before+1)
	return l
}

func contains(t *testing.T, text string, all ...string) {
	t.Helper()
	for _, want := range all {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}
