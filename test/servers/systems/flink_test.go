package systems

import (
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// flink is the election of Flink's job managers, a line of Curator's, with a latch in Go in it.
var flink = &system{
	name: "Flink 1.20.4", key: "flink", short: true, members: 1,
	work:  "two election drivers publish their address; a Go `Latch` is in their line",
	play:  playFlink,
	races: map[string]string{"createContainer -110": looksFirst},
}

const (
	flinkCluster = "/systems"
	flinkLine    = "/flink" + flinkCluster + "/latch"
	flinkLeader  = "/flink" + flinkCluster + "/jobmanager/connection_info"
	flinkTimeout = 6 * time.Second
	goLatch      = "go"
)

func playFlink(s *stage) {
	for _, name := range []string{"jm1", "jm2"} {
		p := s.process(name)
		p.java("Flink", p.servers, name, millis(flinkTimeout), flinkCluster)
	}
	c := contest{look: lineLook(flinkLine)}
	c.settle = func(before, _ place) string { return s.leads(c, before) }
	s.timed("two drivers start", func() string { return s.leads(c, place{}) })
	s.timed("a latch in Go joins the line", func() string {
		p := s.process(goLatch)
		p.golang("latch", p.servers, flinkLine, millis(flinkTimeout), goLatch)
		return s.inLine(flinkLine, p)
	})
	s.expiries(4, c)
	s.cuts(3, c)
	s.outage(c)
	s.kills(c, func(p *process) string {
		p.start()
		return s.inLine(flinkLine, p)
	})
	s.from = s.now()
	s.timed("kill -9 of both drivers", func() string {
		for _, p := range s.processes {
			if p.name != goLatch {
				p.kill()
			}
		}
		s.untilHolds("the latch in Go to be the first", func(conn *zk.Conn) (bool, <-chan zk.Event, error) {
			now, changed, err := c.look(conn)
			return now.session != 0 && s.owner(now).name == goLatch, changed, err
		})
		return s.leads(c, place{})
	})
}

// leads waits until the first in line believes that it leads, nobody else does, and its address is there if it is
// one of Flink's. One whose session ends learns of it later. A driver whose connection was cut is revoked first.
func (s *stage) leads(c contest, before place) string {
	s.t.Helper()
	now := s.elected(c, place{})
	if p := s.owner(now); now.czxid == before.czxid && p.name != goLatch {
		p.await(s.from, "revoke")
	}
	var first *process
	s.heard("the first in line, and nobody else, to lead", func() bool {
		first = s.owner(s.elected(c, place{}))
		for _, p := range s.processes {
			if p.runs() && s.believes(p) != (p == first) {
				return false
			}
		}
		return true
	})
	if first.name != goLatch {
		s.until("the leader's address", flinkLeader, func(data string) bool {
			return strings.Contains(data, "akka://"+first.name)
		})
	}
	return "the first in line leads, and in the end nobody else"
}

// believes reports whether the last that a process has said is that it leads.
func (s *stage) believes(p *process) (leads bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, said := range s.said {
		if said.by == p {
			switch word, _, _ := strings.Cut(said.text, " "); word {
			case "published", "leads":
				leads = true
			case "ready", "grant", "revoke", "ends":
				leads = false
			}
		}
	}
	return leads
}

// inLine waits until a process has a node in a line.
func (s *stage) inLine(dir string, p *process) string {
	s.t.Helper()
	s.untilHolds(p.name+" to be in line", func(conn *zk.Conn) (bool, <-chan zk.Event, error) {
		names, _, changed, err := conn.ChildrenW(dir)
		for _, name := range names {
			if found, err := read(conn, dir+"/"+name); err == nil && p.has(found.session) {
				return true, nil, nil
			}
		}
		return false, changed, err
	})
	return "it is in line"
}

// until waits until a node's data is as wanted.
func (s *stage) until(what, path string, wanted func(data string) bool) {
	s.t.Helper()
	s.untilHolds(what, func(conn *zk.Conn) (bool, <-chan zk.Event, error) {
		there, _, changed, err := conn.ExistsW(path)
		if err != nil || !there {
			return false, changed, err
		}
		found, err := read(conn, path)
		return wanted(found.data), changed, err
	})
}
