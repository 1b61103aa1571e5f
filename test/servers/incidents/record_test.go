//go:build unix

package incidents

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/internal/segments"
	"github.com/incumbent-go/incumbent/internal/why"
	"github.com/incumbent-go/incumbent/test/kit/proxy"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/servers/incidents/wallclock"
)

var record = flag.String("record", "", "record the incidents again whose names this expression matches")

const (
	sessionTimeout = 4 * time.Second
	serversTick    = 500 * time.Millisecond
	patience       = 90 * time.Second
)

// stage is where an incident is played.
type stage struct {
	t       *testing.T
	dir     string
	actors  []*actor
	txnlogs func() []string // the servers' files, when it is over
	seen    observer
}

// actor is a participant in a process of its own, behind a link of its own.
type actor struct {
	s     *stage
	id    string
	log   string
	link  *proxy.Link
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string

	offsets io.Writer // of its wall clock; nil if that cannot be set
	command bool      // it is elect with a command
}

// enter starts a participant at a server, and returns when it waits or leads.
func (s *stage) enter(id, server, first string) *actor {
	s.t.Helper()
	a := s.actor(id, server)
	a.start(first)
	return a
}

// enterSet is enter for a participant whose wall clock can be set, and is ahead of this machine's when it begins.
func (s *stage) enterSet(id, server, first string, ahead time.Duration) *actor {
	s.t.Helper()
	if !wallclock.Supported {
		realzk.NotRun(s.t, "an incident of a wall clock that is set (needs Linux on amd64)")
	}
	a := s.actor(id, server)
	read, write, err := os.Pipe()
	must(s.t, err)
	s.t.Cleanup(func() { _ = write.Close() })
	defer read.Close()
	a.cmd.Env = append(a.cmd.Env, setClock+"=3")
	a.cmd.ExtraFiles, a.offsets = []*os.File{read}, write
	a.set(ahead)
	a.start(first)
	return a
}

// actor returns a participant that is not started yet.
func (s *stage) actor(id, server string) *actor {
	s.t.Helper()
	link, err := proxy.New(server)
	must(s.t, err)
	s.t.Cleanup(link.Close)
	exe, err := os.Executable()
	must(s.t, err)
	a := &actor{s: s, id: id, log: filepath.Join(s.dir, fmt.Sprintf("%s.log", id)), link: link,
		lines: make(chan string, 1000)}
	for n := 2; exists(a.log); n++ {
		a.log = filepath.Join(s.dir, fmt.Sprintf("%s-%d.log", id, n))
	}
	a.cmd = exec.Command(exe)
	a.cmd.Env = append(os.Environ(),
		fmt.Sprintf("%s=%s %s %s %s %s", job, id, link.Addr(), sessionTimeout, serversTick, a.log))
	a.cmd.Stderr = os.Stderr
	return a
}

func (a *actor) start(first string) {
	a.s.t.Helper()
	t := a.s.t
	var err error
	a.in, err = a.cmd.StdinPipe()
	must(t, err)
	out, err := a.cmd.StdoutPipe()
	must(t, err)
	must(t, a.cmd.Start())
	go func() {
		defer close(a.lines)
		for in := bufio.NewScanner(out); in.Scan(); {
			if what := a.s.seen.hear(a, in.Text()); what != "" {
				a.lines <- what
			}
		}
	}()
	t.Cleanup(func() {
		_ = a.cmd.Process.Kill()
		for range a.lines {
		}
		_ = a.cmd.Wait()
	})
	a.s.actors = append(a.s.actors, a)
	if first != "" {
		a.says(first)
	}
}

// set sets the participant's wall clock: it is ahead of this machine's from now on.
func (a *actor) set(ahead time.Duration) {
	a.s.t.Helper()
	_, err := fmt.Fprintln(a.offsets, ahead)
	must(a.s.t, err)
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// says waits for a line; others before it are passed over.
func (a *actor) says(want string) {
	a.s.t.Helper()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		select {
		case got, open := <-a.lines:
			if !open {
				a.s.t.Fatalf("%s ended, and did not say %q", a.id, want)
			}
			if got == want {
				return
			}
		case <-timeout.C:
			a.s.t.Fatalf("%s does not say %q", a.id, want)
		}
	}
}

func (a *actor) obey(command string) {
	a.s.t.Helper()
	_, err := io.WriteString(a.in, command+"\n")
	must(a.s.t, err)
}

func (a *actor) signal(s os.Signal) { must(a.s.t, a.cmd.Process.Signal(s)) }

// leave ends a participant in an orderly way, and returns when it has ended.
func (a *actor) leave() {
	_ = a.in.Close()
	timeout := time.AfterFunc(patience, func() { _ = a.cmd.Process.Kill() })
	defer timeout.Stop()
	for range a.lines {
	}
}

// operate runs something with a client of the servers.
func (s *stage) operate(server string, do func(*zk.Conn) error) {
	s.t.Helper()
	conn, events, err := zk.Connect([]string{server}, 10*time.Second, zk.WithLogger(quiet{}))
	must(s.t, err)
	defer conn.Close()
	for e := range events {
		if e.State == zk.StateHasSession {
			break
		}
	}
	must(s.t, do(conn))
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// firstOf returns the first node of the line.
func firstOf(conn *zk.Conn) (string, error) {
	names, _, err := conn.Children(line)
	if err != nil {
		return "", err
	}
	slices.SortFunc(names, func(a, b string) int { return bytes.Compare([]byte(a[len(a)-10:]), []byte(b[len(b)-10:])) })
	return line + "/" + names[0], nil
}

// deleteFirst deletes the first node of the line.
func deleteFirst(conn *zk.Conn) error {
	first, err := firstOf(conn)
	if err != nil {
		return err
	}
	return conn.Delete(first, -1)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// keep writes the logs to a directory, gzipped.
func (s *stage) keep(into string) {
	must(s.t, os.RemoveAll(into))
	must(s.t, os.MkdirAll(filepath.Join(into, "txnlog"), 0o755))
	for _, a := range s.actors {
		if s.seen.hidden[a] {
			continue
		}
		zip(s.t, a.log, filepath.Join(into, filepath.Base(a.log)+".gz"))
		if commands := segments.CommandsOf(a.log); exists(commands) {
			zip(s.t, commands, filepath.Join(into, a.id+".commands.gz"))
		}
	}
	for i, file := range s.txnlogs() {
		zip(s.t, file, filepath.Join(into, "txnlog", fmt.Sprintf("%d-%s.gz", i+1, filepath.Base(file))))
	}
}

func zip(t *testing.T, from, to string) {
	b, err := os.ReadFile(from)
	must(t, err)
	if strings.HasPrefix(filepath.Base(from), "log.") {
		b = append(bytes.TrimRight(b, "\x00"), make([]byte, 16)...) // servers fill their files with zeros
	}
	var zipped bytes.Buffer
	z, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	must(t, err)
	_, err = z.Write(b)
	must(t, err)
	must(t, z.Close())
	must(t, os.WriteFile(to, zipped.Bytes(), 0o644))
}

// TestRecord records incidents again, if -record says which. A recording that does not show what was done is not kept.
func TestRecord(t *testing.T) {
	if *record == "" {
		return
	}
	wanted := regexp.MustCompile(*record)
	for _, i := range All() {
		if !wanted.MatchString(i.Name) {
			continue
		}
		t.Run(i.Name, func(t *testing.T) {
			t.Parallel()
			s := &stage{t: t, dir: t.TempDir()}
			plays[i.Name](s)
			for _, a := range s.actors {
				a.leave()
			}
			scratch := filepath.Join(s.dir, "kept")
			s.keep(scratch)
			logs, txns, err := Read(scratch)
			must(t, err)
			r := why.Explain(logs, txns, why.Options{})
			for _, l := range r.Lines(true) {
				t.Log(l)
			}
			if misfit := i.Misfit(r); misfit != "" {
				t.Fatal(misfit)
			}
			s.keep(filepath.Join("testdata", i.Name))
		})
	}
}
