// Package realzk starts a real standalone ZooKeeper on the loopback, for tests.
//
// Where it comes from, first match: INCUMBENT_ZK=host:port is a running server, used as it is (tests that must restart
// it are then not run); ZOOKEEPER_HOME is an unpacked Apache distribution; INCUMBENT_ZK_RELEASE is a release whose jars
// make servers has fetched; else Debian's jars in /usr/share/java. Without any, or without java, the test is skipped
// with the words "not run", and fails with the same words where INCUMBENT_REQUIRE=all. Nothing is ever installed.
//
// A server ends with the test binary, even if that is killed: a shell script reads from a pipe of the binary.
package realzk

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

const (
	readyWithin = repeat.Enough
	probeWithin = 2 * time.Second
	between     = 50 * time.Millisecond
)

// Options are the settings of a server.
type Options struct {
	// Tick is tickTime: session timeouts are clamped to 2–20 ticks. Default 2 s, in whole milliseconds.
	Tick time.Duration
	// MaxTimeout is maxSessionTimeout, in whole milliseconds. Default 20 ticks.
	MaxTimeout time.Duration
	// Dir is a directory to use, which may hold data already, in "data"; default one of the test's own.
	Dir string
	// Properties are further Java system properties, as in "znode.container.checkIntervalMs=1000", and options of java
	// that begin with a dash, as in "-Xmx1g" (default: 256 MB).
	Properties []string
	// Settings are further lines of zoo.cfg. A later line of the same setting wins.
	Settings []string
	// Release is what the server is. Default Usual.
	Release Release
}

// Server is a running ZooKeeper.
type Server struct {
	opts    Options
	addr    string
	given   bool
	dir     string
	scratch bool // dir is deleted when the process ends
	process *Process
}

// Start starts a server for one test, and returns when it serves. It ends with the test.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	dir := o.Dir
	if dir == "" {
		dir = t.TempDir()
	}
	s, err := start(t, o, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.end("") })
	o.Release.At(t, s.addr)
	return s
}

// Addr returns the server's host:port.
func (s *Server) Addr() string { return s.addr }

// Kill ends the server as a crash would. Its data stays for Restart.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	s.mustBeOurs(t)
	s.end("")
}

// Pause stops the process (SIGSTOP) until the server is killed.
func (s *Server) Pause(t testing.TB) {
	t.Helper()
	s.mustBeOurs(t)
	if err := s.process.Signal("STOP"); err != nil {
		t.Fatal(err)
	}
}

// Stop asks the server to end and waits until it has.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	s.mustBeOurs(t)
	s.end("TERM")
}

// Restart starts a server that was killed or stopped again, on the same port with the same data.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.mustBeOurs(t)
	s.end("")
	if err := s.serve(); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) mustBeOurs(t testing.TB) {
	t.Helper()
	if s.given {
		NotRun(t, "the server of INCUMBENT_ZK is not ours to restart")
	}
}

// NotRun skips the test, or fails it if everything is required.
func NotRun(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("INCUMBENT_REQUIRE") == "all" {
		t.Fatalf("not run: %s", why)
	}
	t.Skipf("not run: %s", why)
}

// start starts a server in dir, or in a new directory if that is "".
func start(t testing.TB, o Options, dir string) (*Server, error) {
	t.Helper()
	if addr := given(); addr != "" {
		own := o.Tick != 0 || o.MaxTimeout != 0 || o.Dir != "" || len(o.Properties) > 0 || len(o.Settings) > 0
		if own || o.Release != Usual {
			NotRun(t, "the server of INCUMBENT_ZK has settings of its own")
		}
		s := &Server{addr: addr, given: true}
		return s, s.awaitReady()
	}
	o.Release.Require(t)
	s := &Server{opts: o, dir: dir, scratch: dir == ""}
	var err error
	if s.scratch {
		if s.dir, err = os.MkdirTemp("", "realzk-"); err != nil {
			return nil, err
		}
	}
	if s.addr, err = zkmem.FreeAddr(); err != nil {
		return nil, err
	}
	return s, s.serve()
}

// serve launches the server and returns when it answers; if it does not, serve ends it.
func (s *Server) serve() error {
	err := s.launch()
	if err == nil {
		err = s.awaitReady()
	}
	if err != nil {
		s.end("")
	}
	return err
}

func given() string { return os.Getenv("INCUMBENT_ZK") }

func (s *Server) launch() (err error) {
	s.process, err = s.opts.Release.Launch(s.dir, s.config(), s.opts.Properties, s.scratch)
	return err
}

func (s *Server) config() string {
	tick := s.opts.Tick
	if tick <= 0 {
		tick = 2 * time.Second
	}
	host, port, _ := net.SplitHostPort(s.addr)
	longest := s.opts.MaxTimeout
	if longest <= 0 {
		longest = 20 * tick
	}
	return fmt.Sprintf("tickTime=%d\nmaxSessionTimeout=%d\ndataDir=%s\nclientPort=%s\nclientPortAddress=%s\n"+
		"4lw.commands.whitelist=*\n"+
		"maxClientCnxns=0\nadmin.enableServer=false\n%s\n", tick.Milliseconds(), longest.Milliseconds(),
		filepath.Join(s.dir, "data"), port, host, strings.Join(s.opts.Settings, "\n"))
}

// end ends the process, if there is one, and waits for it.
func (s *Server) end(signal string) {
	if s.process != nil {
		s.process.End(signal)
		s.process = nil
	}
}

// awaitReady asks the server for its mode until it answers.
func (s *Server) awaitReady() error {
	ticker := time.NewTicker(between)
	defer ticker.Stop()
	for end := time.Now().Add(readyWithin); time.Now().Before(end); <-ticker.C { // pause: between looks at a server
		if answer, err := Probe(s.addr, "srvr"); err == nil && strings.Contains(answer, "Mode:") {
			return nil
		}
		if !s.given && strings.Contains(s.process.Log(), "exiting abnormally") {
			break
		}
	}
	if s.given {
		return fmt.Errorf("the ZooKeeper at %s does not serve", s.addr)
	}
	return fmt.Errorf("the real ZooKeeper at %s does not serve:\n%s", s.addr, s.process.Log())
}

// Word returns a server's answer to a four-letter word.
func Word(addr, word string) (string, error) { return ask(addr, word, repeat.Enough) }

// Probe is Word for a server that may not serve: it takes at most two seconds.
func Probe(addr, word string) (string, error) { return ask(addr, word, probeWithin) }

func ask(addr, word string, within time.Duration) (string, error) {
	conn, err := net.DialTimeout("tcp", addr, within)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(within))
	if _, err := io.WriteString(conn, word); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(conn)
	return string(answer), err
}
