//go:build unix

package incidents

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/test/kit/proxy"
)

// signal sends a signal to a participant.
func (s *stage) signal(a *actor, what syscall.Signal) {
	s.did(a.id + "'s process gets " + map[syscall.Signal]string{syscall.SIGSTOP: "SIGSTOP", syscall.SIGCONT: "SIGCONT",
		syscall.SIGKILL: "SIGKILL"}[what])
	if what == syscall.SIGSTOP {
		s.seen.interrupt(a)
	}
	a.signal(what)
}

// silence has nothing arrive on a participant's link any more.
func (s *stage) silence(a *actor) {
	s.did("nothing arrives on " + a.id + "'s link any more")
	a.link.Silence(proxy.Forth)
	a.link.Silence(proxy.Back)
}

// whoLeads waits until a participant leads.
func (s *stage) whoLeads() *actor {
	led := make(chan *actor, len(s.actors))
	for _, a := range s.actors {
		go func() {
			for said := range a.lines {
				if said == "leading" {
					led <- a
					return
				}
			}
		}()
	}
	return <-led
}

// inLine waits until a number of participants are in the line.
func (s *stage) inLine(server string, n int) {
	s.operate(server, func(conn *zk.Conn) error {
		for {
			names, _, changed, err := conn.ChildrenW(line)
			if err != nil || len(names) >= n {
				return err
			}
			<-changed
		}
	})
}

// build builds the operators' program.
func (s *stage) build() string {
	program := filepath.Join(s.t.TempDir(), "incumbent")
	build := exec.Command("go", "build", "-o", program, "github.com/incumbent-go/incumbent/cmd/incumbent")
	build.Stderr = os.Stderr
	must(s.t, build.Run())
	return program
}

// elect starts elect with a command that gives signs of work.
func (s *stage) elect(program, id, server, first string) *actor {
	s.t.Helper()
	a := s.actor(id, server)
	const work = `while read up rest </proc/uptime; do echo "working @$up"; sleep 0.03; done`
	a.cmd = exec.Command(program, "elect", line, "--servers", a.link.Addr(), "--id", id, "--timeout",
		sessionTimeout.String(), "--tick", serversTick.String(), "--record", a.log, "--", "sh", "-c", work)
	a.cmd.Stderr, a.command = os.Stderr, true
	a.start(first)
	return a
}

// TestRecordTwoCauses records incidents of two causes again, if -record says which, with what the driver saw of them.
// One whose summary is not so is not kept.
func TestRecordTwoCauses(t *testing.T) {
	if *record == "" {
		return
	}
	wanted := regexp.MustCompile(*record)
	for name, d := range doubles {
		if !wanted.MatchString(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &stage{t: t, dir: t.TempDir()}
			s.seen.truth.What = d.what
			d.play(s)
			scratch := filepath.Join(s.dir, "kept")
			s.keep(scratch)
			s.seen.tell(s, scratch)
			truth, err := ReadTruth(scratch)
			must(t, err)
			r, a := explained(t, scratch, false, true)
			t.Log(strings.Join(r.Lines(true), "\n"))
			if wrong := truth.wrong(a); len(wrong) > 0 {
				t.Fatal(strings.Join(wrong, "\n"))
			}
			into := filepath.Join(twoCauses, name)
			s.keep(into)
			s.seen.tell(s, into)
		})
	}
}
