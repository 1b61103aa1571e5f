package ensemble

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// Server is one of the three.
type Server struct {
	e       *Ensemble
	id      int // as in myid
	dir     string
	client  string    // where clients dial
	ports   [2]string // where the others do, before any link
	release realzk.Release
	own     []string // further lines of its zoo.cfg
	process *realzk.Process
}

// Addr returns the host:port for clients.
func (s *Server) Addr() string { return s.client }

// ID returns the server's number in the ensemble, from 1.
func (s *Server) ID() int { return s.id }

// String returns the server's name in reports.
func (s *Server) String() string { return fmt.Sprintf("server %d", s.id) }

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// Keep copies what the server has on disk into a directory; Restore puts it back. The server must not run.
func (s *Server) Keep(into string) error {
	return os.CopyFS(filepath.Join(into, strconv.Itoa(s.id)), os.DirFS(s.data()))
}

// Restore gives the server the data that Keep copied.
func (s *Server) Restore(from string) error {
	if err := os.RemoveAll(s.data()); err != nil {
		return err
	}
	return os.CopyFS(s.data(), os.DirFS(filepath.Join(from, strconv.Itoa(s.id))))
}

// TxnLogs returns the files of the server's transaction log, whose format is ZooKeeper's own. The server may run.
func (s *Server) TxnLogs() ([]string, error) {
	return filepath.Glob(filepath.Join(s.data(), "version-2", "log.*"))
}

// found creates the server's directory, with its number.
func (s *Server) found() error {
	if err := os.MkdirAll(s.data(), 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.data(), "myid"), []byte(strconv.Itoa(s.id)), 0o600)
}

func (s *Server) config() string {
	o := s.e.options
	host, port, _ := net.SplitHostPort(s.client)
	var b strings.Builder
	fmt.Fprintf(&b, "tickTime=%d\ninitLimit=%d\nsyncLimit=%d\ndataDir=%s\n", o.Tick.Milliseconds(), o.InitLimit,
		o.SyncLimit, s.data())
	if !o.Direct && !o.Named {
		fmt.Fprintf(&b, "clientPort=%s\nclientPortAddress=%s\n", port, host)
	}
	b.WriteString("4lw.commands.whitelist=*\nmaxClientCnxns=0\nadmin.enableServer=false\n")
	for _, line := range slices.Concat(o.Settings, s.own) {
		b.WriteString(line + "\n")
	}
	for i, other := range s.e.servers {
		fmt.Fprintf(&b, "server.%d=127.0.0.1:%s:%s", other.id, s.portTo(i, quorum), s.portTo(i, election))
		if o.Direct || o.Named {
			b.WriteString(";" + other.client)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// portTo returns the port at which this server dials another: a link's, or for itself its own.
func (s *Server) portTo(i int, p port) string {
	addr := s.e.servers[i].ports[p]
	if i != s.id-1 && !s.e.options.Direct {
		addr = s.e.links[route{s.id - 1, i, p}].Addr()
	}
	_, port, _ := net.SplitHostPort(addr)
	return port
}

func (s *Server) launch() (err error) {
	s.process, err = s.release.Launch(s.dir, s.config(), s.e.options.Properties, false)
	return err
}

func (s *Server) kill() {
	if s.process != nil {
		s.process.End("")
		s.process = nil
	}
}

// Kill ends the server as a crash would. Its data stays for Restart.
func (s *Server) Kill() { s.kill() }

// Stop asks the server to end and waits until it has.
func (s *Server) Stop() {
	if s.process != nil {
		s.process.End("TERM")
		s.process = nil
	}
}

// Restart starts the server again, with the data that it has. It does not wait until it serves: Ensemble.Whole does.
func (s *Server) Restart() {
	s.e.t.Helper()
	s.kill()
	if err := s.launch(); err != nil {
		s.e.t.Fatal(err)
	}
}

// Become has the next Restart start another release.
func (s *Server) Become(r realzk.Release) { s.release = r }

// Configure has the next Restart start the server with these lines of zoo.cfg besides those of all.
func (s *Server) Configure(lines ...string) { s.own = lines }

// Pause stops the process (SIGSTOP), and Resume has it go on.
func (s *Server) Pause() { s.e.t.Helper(); s.signal("STOP") }

// Resume ends a Pause.
func (s *Server) Resume() { s.e.t.Helper(); s.signal("CONT") }

func (s *Server) signal(name string) {
	s.e.t.Helper()
	if err := s.process.Signal(name); err != nil {
		s.e.t.Fatalf("%s to %s: %v", name, s, err)
	}
}

// Answers waits until the server's answer to a four-letter word has a text in it.
func (s *Server) Answers(word, text string) {
	s.e.t.Helper()
	err := s.e.until(text+" as the answer to "+word, func() bool {
		answer, err := realzk.Probe(s.client, word)
		return err == nil && strings.Contains(answer, text)
	})
	if err != nil {
		s.e.t.Fatalf("%s: %v", s, err)
	}
}

// Mode returns "leader" or "follower", or "" if the server does not serve.
func (s *Server) Mode() string {
	answer, err := realzk.Probe(s.client, "srvr")
	if err != nil {
		return ""
	}
	_, mode, _ := strings.Cut(answer, "Mode: ")
	mode, _, _ = strings.Cut(mode, "\n")
	return mode
}

// Stat returns a figure of the server's mntr, false if it has none.
func (s *Server) Stat(name string) (int64, bool) {
	answer, err := realzk.Probe(s.client, "mntr")
	if err != nil {
		return 0, false
	}
	found := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + `\t(\d+)`).FindStringSubmatch(answer)
	if found == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(found[1], 10, 64)
	return n, err == nil
}

// synced returns the number of a leader's followers that are up to date.
func (s *Server) synced() int64 {
	n, _ := s.Stat("zk_synced_followers")
	return n
}
