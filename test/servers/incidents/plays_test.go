//go:build unix

package incidents

import (
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/test/kit/proxy"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/servers/ensemble"
)

// plays has what is done in each incident.
var plays = map[string]func(*stage){
	"killed": func(s *stage) {
		a, b, _ := s.three()
		a.signal(syscall.SIGKILL)
		b.says("leading")
	},
	"paused": func(s *stage) {
		a, b, _ := s.three()
		a.signal(syscall.SIGSTOP)
		b.says("leading")
		a.signal(syscall.SIGCONT)
		a.says("stopped")
	},
	"cut-link": func(s *stage) {
		a, b, _ := s.three()
		a.link.Cut()
		b.says("leading")
		a.link.Heal()
	},
	"cut-briefly": func(s *stage) {
		a, _, _ := s.three()
		a.link.Cut()
		a.says("stopped")
		a.link.Heal()
		a.says("leading")
	},
	"silent-link": func(s *stage) {
		a, b, _ := s.three()
		a.link.Silence(proxy.Forth)
		a.link.Silence(proxy.Back)
		b.says("leading")
		a.link.Heal()
	},
	"operators-deletion": func(s *stage) {
		server, a, b, _ := s.at()
		s.operate(server.Addr(), deleteFirst)
		a.says("stopped")
		b.says("leading")
	},
	"eviction": func(s *stage) {
		server, a, b, _ := s.at()
		operator := s.enter("operator", server.Addr(), "waiting")
		operator.obey("evict")
		a.says("stopped")
		b.says("leading")
	},
	"resigned": func(s *stage) {
		a, b, _ := s.three()
		a.obey("resign")
		b.says("leading")
	},
	"rolling-restart": func(s *stage) {
		server, a, b, c := s.at()
		a.leave()
		b.says("leading")
		s.enter("alice", server.Addr(), "waiting")
		b.leave()
		c.says("leading")
		s.enter("bob", server.Addr(), "waiting")
	},
	"forgotten-release": func(s *stage) {
		server, a, b, _ := s.at()
		a.obey("forget")
		a.says("stopped")
		for range 3 { // sessions that end one after the other take a timeout each
			other := s.guest(server.Addr())
			other.expires()
		}
		a.obey("return")
		b.says("leading")
	},
	"unhealthy": func(s *stage) {
		a, b, _ := s.three()
		a.obey("sick")
		b.says("leading")
	},
	"unreadable-directory": func(s *stage) {
		server, a, b, _ := s.at()
		acl := func(perms int32) func(*zk.Conn) error {
			return func(conn *zk.Conn) error {
				_, err := conn.SetACL(line, zk.WorldACL(perms), -1)
				return err
			}
		}
		b.link.Cut()
		s.operate(server.Addr(), acl(zk.PermAll&^zk.PermRead))
		b.link.Heal()
		a.obey("close")
		a.says("stopped")
		s.guest(server.Addr()).expires()
		s.operate(server.Addr(), acl(zk.PermAll))
		s.anyLeads()
	},
	"unreadable-node": func(s *stage) {
		server, a, b, _ := s.at()
		s.operate(server.Addr(), func(conn *zk.Conn) error {
			first, err := firstOf(conn)
			if err != nil {
				return err
			}
			if _, err := conn.SetACL(first, zk.WorldACL(zk.PermAll&^zk.PermRead), -1); err != nil {
				return err
			}
			_, err = conn.Set(first, nil, -1) // so that the leader reads it again
			return err
		})
		a.says("stopped")
		b.says("leading")
	},
	"hung-writer": func(s *stage) {
		a, b, _ := s.three()
		a.obey("hang")
		a.obey("close")
		b.says("leading")
	},
	"clock-set": func(s *stage) {
		server := s.server()
		a := s.enterSet("alice", server.Addr(), "leading", 0)
		b := s.enter("bob", server.Addr(), "waiting")
		c := s.enter("carol", server.Addr(), "waiting")
		a.set(time.Hour)
		a.says("clock set")
		a.signal(syscall.SIGKILL)
		b.says("leading")
		again := s.enterSet("alice", server.Addr(), "waiting", time.Hour)
		b.leave()
		c.says("leading")
		c.leave()
		again.says("leading")
		again.set(0)
		again.says("clock set")
	},
	"server-restart": func(s *stage) {
		server, a, _, _ := s.at()
		server.Kill(s.t)
		a.says("stopped")
		server.Restart(s.t)
		a.says("leading")
	},
	"restored-backup": func(s *stage) {
		dir := s.t.TempDir()
		server := realzk.Start(s.t, realzk.Options{Tick: serversTick, Dir: dir})
		s.txnlogs = func() []string { return nil } // of two histories
		server.Stop(s.t)
		backup := filepath.Join(s.t.TempDir(), "data")
		must(s.t, os.CopyFS(backup, os.DirFS(filepath.Join(dir, "data"))))
		server.Restart(s.t)
		a := s.enter("alice", server.Addr(), "leading")
		s.enter("bob", server.Addr(), "waiting")
		server.Stop(s.t)
		a.says("stopped")
		must(s.t, os.RemoveAll(filepath.Join(dir, "data")))
		must(s.t, os.CopyFS(filepath.Join(dir, "data"), os.DirFS(backup)))
		server.Restart(s.t)
		s.anyLeads()
	},
	"cut-off-follower": func(s *stage) {
		e, _, followers := s.ensemble()
		s.enter("alice", followers[0].Addr(), "leading")
		b := s.enter("bob", followers[1].Addr(), "waiting")
		e.Isolate(followers[0])
		b.says("leading")
		e.Heal()
	},
	"deposed-leader": func(s *stage) {
		e, leader, followers := s.ensemble()
		s.enter("alice", leader.Addr(), "leading")
		b := s.enter("bob", followers[0].Addr(), "waiting")
		e.Isolate(leader)
		b.says("leading")
		e.Heal()
	},
	"frozen-server": func(s *stage) {
		_, leader, followers := s.ensemble()
		a := s.enter("alice", leader.Addr(), "leading")
		s.enter("bob", followers[0].Addr(), "waiting")
		leader.Pause()
		a.says("stopped")
		leader.Resume()
		s.anyLeads()
	},
	"slow-ensemble": func(s *stage) {
		e, leader, followers := s.ensemble()
		a := s.enter("alice", leader.Addr(), "leading")
		s.enter("bob", followers[0].Addr(), "waiting")
		for _, f := range followers {
			e.Delay(f, leader, sessionTimeout*3/8)
		}
		a.says("stopped")
		e.Heal()
		s.anyLeads()
	},
}

// server starts a server.
func (s *stage) server() *realzk.Server {
	dir := s.t.TempDir()
	server := realzk.Start(s.t, realzk.Options{Tick: serversTick, Dir: dir})
	s.txnlogs = func() []string {
		files, err := filepath.Glob(filepath.Join(dir, "data", "version-2", "log.*"))
		must(s.t, err)
		return files
	}
	return server
}

// at starts a server and three participants. The first leads.
func (s *stage) at() (server *realzk.Server, a, b, c *actor) {
	server = s.server()
	a = s.enter("alice", server.Addr(), "leading")
	b = s.enter("bob", server.Addr(), "waiting")
	c = s.enter("carol", server.Addr(), "waiting")
	return server, a, b, c
}

func (s *stage) three() (a, b, c *actor) {
	_, a, b, c = s.at()
	return a, b, c
}

// ensemble starts three servers.
func (s *stage) ensemble() (e *ensemble.Ensemble, leader *ensemble.Server, followers []*ensemble.Server) {
	e = ensemble.Start(s.t, ensemble.Options{Tick: serversTick, SyncLimit: 4})
	leader, followers = e.Whole()
	s.txnlogs = func() []string {
		files, err := followers[1].TxnLogs() // which nothing happens to
		must(s.t, err)
		return files
	}
	return e, leader, followers
}

// anyLeads waits until one of the participants leads again.
func (s *stage) anyLeads() {
	led := make(chan struct{}, len(s.actors))
	for _, a := range s.actors {
		go func() {
			for said := range a.lines {
				if said == "leading" {
					led <- struct{}{}
				}
			}
		}()
	}
	<-led
}

// guest is a client whose session ends without a close.
type guest struct {
	s      *stage
	server string
}

func (s *stage) guest(server string) guest { return guest{s, server} }

// expires waits until a session of the participants' timeout has expired.
func (g guest) expires() {
	link, err := proxy.New(g.server)
	must(g.s.t, err)
	defer link.Close()
	conn, events, err := zk.Connect([]string{link.Addr()}, sessionTimeout, zk.WithLogger(quiet{}))
	must(g.s.t, err)
	defer conn.Close()
	for e := range events {
		if e.State == zk.StateHasSession {
			break
		}
	}
	_, err = conn.Create("/guest", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	must(g.s.t, err)
	g.s.operate(g.server, func(observer *zk.Conn) error {
		_, _, gone, err := observer.ExistsW("/guest")
		if err != nil {
			return err
		}
		link.Cut()
		<-gone
		return nil
	})
}
