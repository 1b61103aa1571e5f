//go:build unix

package incidents

import (
	"syscall"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/internal/why"
)

// Groups of codes: what a client can see of one cause depends on milliseconds.
var (
	disconnected = []why.Cause{why.CauseConnectionClosed, why.CauseConnectionBroken}
	cutOff       = []why.Cause{why.CauseServerCutOff, why.CauseUnconfirmed, why.CauseSlowEnsemble, why.CauseSilent,
		why.CauseConnectionClosed}
)

// double is an incident of two causes at once.
type double struct {
	what string
	play func(*stage)
}

// doubles has what is done in each incident of two causes, and in two whose work outlived its right.
var doubles = map[string]double{
	"paused-and-server-killed": {
		"the leader's process is stopped by SIGSTOP and the one server is killed; it starts again, and the next leads",
		func(s *stage) {
			server, a, b, _ := s.at()
			s.signal(a, syscall.SIGSTOP)
			s.did("the server is killed")
			server.Kill(s.t)
			server.Restart(s.t)
			s.did("the server serves again")
			b.says("leading")
			s.signal(a, syscall.SIGCONT)
			a.says("stopped")
			s.because(0, "alice", why.CausePaused)
			s.because(0, "", disconnected...)
			s.todo(why.CausePaused)
			s.todo(disconnected...)
			s.seen.truth.CannotTell = "whether alice's work ran for a moment when its process went on"
			s.ends(b)
		},
	},
	"link-cut-and-slow-disk": {
		"the leader's link is cut, and the servers' acknowledgements take 0.7 s, as on a slow disk",
		func(s *stage) {
			e, leader, followers := s.ensemble()
			a := s.enter("alice", followers[0].Addr(), "leading")
			b := s.enter("bob", leader.Addr(), "waiting")
			s.enter("carol", followers[1].Addr(), "waiting")
			s.did("acknowledgements take 0.7 s")
			for _, f := range followers {
				e.Delay(f, leader, 700*time.Millisecond)
			}
			s.did("alice's link is cut")
			a.link.Cut()
			b.says("leading")
			s.because(0, "alice", disconnected...)
			s.because(0, "", why.CauseSlowEnsemble)
			s.todo(disconnected...)
			s.todo(why.CauseSlowEnsemble)
			s.ends(b)
		},
	},
	"clock-ahead-and-silent-link": {
		"the clock of the leader's host is an hour ahead, and nothing arrives on its link any more",
		func(s *stage) {
			server := s.server()
			a := s.enterSet("alice", server.Addr(), "leading", time.Hour)
			b := s.enter("bob", server.Addr(), "waiting")
			s.enter("carol", server.Addr(), "waiting")
			s.silence(a)
			b.says("leading")
			s.because(0, "alice", why.CauseSilent)
			s.seen.truth.Clocks = map[string]float64{"alice": time.Hour.Seconds()}
			s.todo(why.CauseSilent)
			s.todo(why.CauseWrongClock)
			s.ends(b)
		},
	},
	"deleted-while-paused": {
		"the leader's process is stopped by SIGSTOP, and an operator deletes its node",
		func(s *stage) {
			server, a, b, _ := s.at()
			s.signal(a, syscall.SIGSTOP)
			s.seen.both = true
			s.did("an operator deletes alice's node")
			s.operate(server.Addr(), deleteFirst)
			b.says("leading")
			s.guest(server.Addr()).expires() // which takes as long as alice's session
			s.signal(a, syscall.SIGCONT)
			a.says("stopped")
			s.because(0, "alice", why.CausePaused)
			s.because(0, "alice", why.CauseDeleted)
			s.todo(why.CausePaused)
			s.todo(why.CauseDeleted)
			s.seen.truth.CannotTell = "when alice's work stood still, to the millisecond"
			s.ends(b)
		},
	},
	"credentials-changed-and-rolling-restart": {
		"the line's access list lets nobody enrol any more, and all participants are restarted",
		func(s *stage) {
			server, a, b, c := s.at()
			s.did("the line's access list takes the right to create nodes away")
			s.operate(server.Addr(), func(conn *zk.Conn) error {
				_, err := conn.SetACL(line, zk.WorldACL(zk.PermAll&^zk.PermCreate), -1)
				return err
			})
			for _, old := range []*actor{a, b, c} {
				s.did(old.id + " is closed and started again")
				old.leave()
				s.enter(old.id, server.Addr(), "refused")
			}
			for term := range 3 {
				s.because(term, "", why.CauseClosed)
			}
			s.because(2, "", why.CauseNoRights)
			s.todo(why.CauseNoRights)
			s.ends(nil)
		},
	},
	"unreadable-line-and-quorum-lost": {
		"nobody may list the line, and two of three servers are killed and started again",
		func(s *stage) {
			_, leader, followers := s.ensemble()
			a := s.enter("alice", leader.Addr(), "leading")
			s.enter("bob", followers[0].Addr(), "waiting")
			s.enter("carol", followers[1].Addr(), "waiting")
			access := func(perms int32) {
				s.operate(leader.Addr(), func(conn *zk.Conn) error {
					_, err := conn.SetACL(line, zk.WorldACL(perms), -1)
					return err
				})
			}
			s.did("the line's access list takes the right to read it away")
			access(zk.PermAll &^ zk.PermRead)
			s.did("two servers are killed")
			for _, f := range followers {
				f.Kill()
			}
			a.says("stopped")
			for _, f := range followers {
				f.Restart()
			}
			s.did("two servers are started again")
			a.says("refused")
			s.did("the access list has the right again")
			access(zk.PermAll)
			s.because(0, "", cutOff...)
			s.because(0, "", why.CauseNoRights, why.CauseGivenUp)
			s.todo(cutOff...)
			s.todo(why.CauseNoRights, why.CauseGivenUp)
			s.ends(s.whoLeads())
		},
	},
	"deployed-during-a-partition": {
		"nothing arrives on the leader's link any more, and a deploy closes it in that moment",
		func(s *stage) {
			a, b, _ := s.three()
			s.silence(a)
			s.did("alice is closed")
			a.obey("close")
			a.says("stopped")
			b.says("leading")
			s.because(0, "alice", why.CauseClosed)
			s.because(0, "alice", why.CauseSilent, why.CauseServerCutOff)
			s.todo(why.CauseSilent, why.CauseServerCutOff)
			s.ends(b)
		},
	},
	"server-cut-off-and-next-paused": {
		"the leader's server, a follower, hears no other any more, and the next in line is stopped by SIGSTOP",
		func(s *stage) {
			e, leader, followers := s.ensemble()
			s.enter("alice", followers[0].Addr(), "leading")
			b := s.enter("bob", leader.Addr(), "waiting")
			c := s.enter("carol", followers[1].Addr(), "waiting")
			s.did("alice's server is cut off")
			e.Isolate(followers[0])
			s.signal(b, syscall.SIGSTOP)
			c.says("leading")
			e.Heal()
			s.did("the servers hear each other again")
			s.signal(b, syscall.SIGCONT)
			s.inLine(leader.Addr(), 3) // alice and bob are in the line again
			s.because(0, "alice", cutOff...)
			s.because(0, "bob", why.CausePaused)
			s.todo(cutOff...)
			s.todo(why.CausePaused)
			s.ends(c)
		},
	},
	"killed-and-next-at-a-stopped-server": {
		"the leader's process is killed, and the server of the next in line, a follower, is stopped by SIGSTOP",
		func(s *stage) {
			_, leader, followers := s.ensemble()
			a := s.enter("alice", leader.Addr(), "leading")
			s.enter("bob", followers[0].Addr(), "waiting")
			c := s.enter("carol", followers[1].Addr(), "waiting")
			s.did("bob's server is stopped")
			followers[0].Pause()
			s.signal(a, syscall.SIGKILL)
			c.says("leading")
			followers[0].Resume()
			s.did("bob's server goes on")
			s.inLine(leader.Addr(), 2) // bob is in the line again
			s.because(0, "alice", why.CauseKilled)
			s.because(0, "bob", why.CauseSilent, why.CauseServerCutOff, why.CauseConnectionClosed)
			s.todo(why.CauseKilled)
			s.todo(why.CauseSilent, why.CauseServerCutOff, why.CauseConnectionClosed)
			s.ends(c)
		},
	},
	"unhealthy-and-work-hangs": {
		"the leader's health check fails, and its work does not return",
		func(s *stage) {
			server, a, _, _ := s.at()
			a.obey("stubborn")
			s.did("alice's health check fails, and its work hangs")
			a.obey("sick")
			a.says("stopped")
			for range 2 {
				s.guest(server.Addr()).expires()
			}
			s.because(0, "alice", why.CauseUnhealthy)
			s.because(0, "alice", why.CauseForgottenRelease)
			s.todo(why.CauseUnhealthy)
			s.todo(why.CauseForgottenRelease)
			s.ends(nil)
		},
	},
	"next-killed-and-resigned": {
		"the process of the next in line is killed, and the leader resigns",
		func(s *stage) {
			a, b, c := s.three()
			s.signal(b, syscall.SIGKILL)
			s.did("alice resigns")
			a.obey("resign")
			c.says("leading")
			s.because(0, "alice", why.CauseResigned)
			s.because(0, "bob", why.CauseKilled)
			s.todo(why.CauseKilled)
			s.ends(c)
		},
	},
	"killed-and-a-log-is-lost": {
		"the leader's process is killed, then that of the next leader, whose log is lost",
		func(s *stage) {
			a, b, c := s.three()
			s.signal(a, syscall.SIGKILL)
			b.says("leading")
			s.signal(b, syscall.SIGKILL)
			c.says("leading")
			s.seen.hidden[b] = true
			s.seen.truth.CannotTell = "who led between alice and carol, and why that ended"
			s.because(0, "alice", why.CauseKilled)
			s.todo(why.CauseKilled)
			s.ends(c)
		},
	},
	"work-ended-by-the-guard": {
		"elect is stopped by SIGSTOP; its guard kills the command before the next leads",
		func(s *stage) {
			server := s.server()
			program := s.build()
			a := s.elect(program, "alice", server.Addr(), "leading")
			b := s.elect(program, "bob", server.Addr(), "")
			s.inLine(server.Addr(), 2)
			s.signal(a, syscall.SIGSTOP)
			b.says("leading")
			s.signal(a, syscall.SIGCONT)
			s.because(0, "alice", why.CausePaused)
			s.todo(why.CausePaused)
			s.ends(b)
		},
	},
	"work-ran-on": {
		"nothing arrives on the leader's link any more, and its work goes on after its term",
		func(s *stage) {
			server, a, b, _ := s.at()
			a.obey("stubborn")
			s.silence(a)
			b.says("leading")
			s.guest(server.Addr()).expires()
			s.because(0, "alice", why.CauseSilent)
			s.because(0, "alice", why.CauseForgottenRelease)
			s.todo(why.CauseSilent)
			s.todo(why.CauseForgottenRelease)
			s.ends(b)
		},
	},
}
