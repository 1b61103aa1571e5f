//go:build linux

package chaos

import (
	"fmt"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/proxy"
	"github.com/incumbent-go/incumbent/test/servers/ensemble"
)

// open begins every run alike: one client leads each line, all at one follower, and the others queue elsewhere.
func (s *stage) open() {
	s.t.Helper()
	s.must(s.staff(s.slots[0], "hold"))
	for _, k := range s.kinds {
		s.until(fmt.Sprintf("%s to lead", k), within, func() bool { return k == byQueue || s.leader(k) != nil })
	}
	s.staffRest()
}

// staffRest fills the other slots, and returns when everybody is in line.
func (s *stage) staffRest() {
	s.t.Helper()
	var all sync.WaitGroup
	errs := make([]error, len(s.slots))
	for i, one := range s.slots[1:] {
		all.Go(func() { errs[i] = s.staff(one, "hold") })
	}
	all.Wait()
	for _, err := range errs {
		s.must(err)
	}
	for _, k := range s.kinds {
		s.until(fmt.Sprintf("everybody to be in %s's line", k), within, func() bool {
			o := &outcome{kind: k}
			return s.listed(o) && (k == byJob || k == byQueue || o.missing == 0)
		})
	}
}

// play carries out a plan: the servers' faults in this goroutine, the clients' in another.
func (s *stage) play(p plan) {
	s.t.Helper()
	s.everybody("rotate")
	begun := time.Now()
	var clients sync.WaitGroup
	var err error
	clients.Go(func() {
		for _, f := range p.clients {
			if err = s.hurt(begun, f); err != nil {
				return
			}
		}
	})
	for _, f := range p.servers {
		await(begun, f.At)
		s.count(f.What)
		undo := s.harm(f)
		<-time.After(f.For) // pause: how long the fault lasts
		s.note("over: %s", f.What)
		undo()
		s.e.Heal()
		s.e.Whole()
		s.note("the ensemble is whole")
		s.t.Logf("%4.0f s of %4.0f s: %s", time.Since(begun).Seconds(), s.long.Seconds(), f.What)
	}
	clients.Wait()
	s.must(err)
	await(begun, p.long())
}

// long returns when the last fault is over, if none was late.
func (p plan) long() (end time.Duration) {
	for _, all := range [][]fault{p.servers, p.clients} {
		for _, f := range all {
			end = max(end, f.At+f.For)
		}
	}
	return end
}

func await(begun time.Time, at time.Duration) {
	<-time.After(at - time.Since(begun)) // pause: the plan says when a fault begins
}

// harm does something to servers, and returns how to take it back.
func (s *stage) harm(f fault) (undo func()) {
	leader, followers := s.e.Whole()
	follower, other := followers[f.Whom%2], followers[1-f.Whom%2]
	if at := s.aim(f); at != nil && at.home != nil && at.home != leader {
		follower = at.home
		if other == follower {
			other = followers[f.Whom%2]
		}
	}
	s.note("%s: %s leads, with %s and %s", f.What, leader, follower, other)
	switch f.What {
	case "kill the leader":
		leader.Kill()
		return leader.Restart
	case "kill a follower":
		follower.Kill()
		return follower.Restart
	case "stop a follower":
		follower.Stop()
		return follower.Restart
	case "kill two servers":
		leader.Kill()
		follower.Kill()
		return func() { leader.Restart(); follower.Restart() }
	case "pause the leader":
		leader.Pause()
		return leader.Resume
	case "pause a follower":
		follower.Pause()
		return follower.Resume
	}
	s.weather(f, leader, follower, other)
	return func() {} // Heal takes weather back
}

// weather does to the links between servers what the fault says.
func (s *stage) weather(f fault, leader, follower, other *ensemble.Server) {
	switch f.What {
	case "cut off a follower":
		s.e.Part(follower, leader)
	case "isolate a server":
		s.e.Isolate(follower)
	case "desert the leader":
		s.e.CutUnseen(leader)
	case "silence one way":
		s.e.Silence(leader, follower)
	case "slow down the servers' links":
		by := 50*time.Millisecond + f.For/40
		s.e.Delay(leader, follower, by)
		s.e.Delay(follower, leader, by/2)
		s.e.Delay(leader, other, by/2)
	case "cut the servers' connections":
		s.e.Cut(leader, follower)
	default:
		s.t.Fatalf("nobody knows how to %s", f.What)
	}
}

// aim returns the slot whose client leads the line that the fault is aimed at.
func (s *stage) aim(f fault) *slot {
	if f.Aimed < 0 {
		return nil
	}
	return s.leader(s.kinds[f.Aimed%len(s.kinds)])
}

// hurt does something to the clients of a slot, and takes it back.
func (s *stage) hurt(begun time.Time, f fault) error {
	await(begun, f.At)
	one := s.slots[f.Whom]
	if at := s.aim(f); at != nil {
		one = at
	}
	s.count(f.What)
	s.note("%s of slot %d", f.What, one.number)
	undo := s.strain(one, f)
	<-time.After(f.For) // pause: how long the fault lasts
	s.note("over: %s of slot %d", f.What, one.number)
	return undo()
}

func (s *stage) strain(one *slot, f fault) (undo func() error) {
	links := func(do func(*proxy.Link)) {
		for _, l := range one.links {
			do(l)
		}
	}
	heal := func() error { links((*proxy.Link).Heal); return nil }
	switch f.What {
	case "kill the clients":
		for _, h := range one.all() {
			h.kill()
		}
		return func() error { return s.staff(one, "rotate") }
	case "pause the clients shortly", "pause the clients for long":
		hands := one.all()
		stopAll(hands)
		return func() error { resumeAll(hands); return nil }
	case "silence the clients":
		links(func(l *proxy.Link) { l.Silence(proxy.Forth); l.Silence(proxy.Back) })
	case "silence what the clients send":
		links(func(l *proxy.Link) { l.Silence(proxy.Forth) })
	case "silence what the clients hear":
		links(func(l *proxy.Link) { l.Silence(proxy.Back) })
	case "slow down the clients' links":
		links(func(l *proxy.Link) { l.Delay(proxy.Forth, f.For/20); l.Delay(proxy.Back, f.For/30) })
	case "cut the clients' connections":
		links((*proxy.Link).Cut)
	default:
		return func() error { return fmt.Errorf("nobody knows how to %s", f.What) }
	}
	return heal
}
