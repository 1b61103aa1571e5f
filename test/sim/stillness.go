package sim

import (
	"math/rand/v2"
	"slices"
	"time"
)

// How the sessions that a follower heard of get to the ensemble's leader, and what
// becomes of that where a server stands still: nothing of it runs for a while, its
// connections stay, and what comes in waits. When it wakes, what waited for its
// connections is dealt with in its order; its threads take their turns in any.

// freeze has a server stand still.
func (s *server) freeze(lasts time.Duration) {
	w := s.ens.w
	s.frozen = w.now + int64(lasts)
	w.at(s.frozen, func() {
		if s.frozen != 0 && w.now >= s.frozen {
			s.wake()
		}
	})
}

// wake ends a server's rest.
func (s *server) wake() {
	s.frozen = 0
	thaw := s.thaw
	s.thaw = nil
	for _, do := range thaw {
		s.runs(do)
	}
	if l := s.ens.leader; l != nil {
		l.schedule()
	}
}

// runs does something at a server, now or when it wakes.
func (s *server) runs(do func()) {
	if s.frozen != 0 {
		s.thaw = append(s.thaw, do)
		return
	}
	do()
}

// thread is runs for one of its threads, whose turn comes a moment after it woke.
func (s *server) thread(do func()) {
	if s.frozen == 0 {
		do()
		return
	}
	s.thaw = append(s.thaw, func() {
		s.ens.w.after(between(s.ens.w.roll("thaw"), 0, 50*time.Millisecond), func() { s.thread(do) })
	})
}

// pulse is a thread of every server; twice a tick, that of the leader asks the
// others which sessions they heard of.
func (s *server) pulse() {
	s.thread(func() {
		if s.up && s.serving && s.leads {
			for _, f := range s.ens.servers {
				if f != s && f.term == s.term && f.up {
					s.ask(f)
				}
			}
		}
		s.ens.w.after(s.ens.w.Tick/2, s.pulse)
	})
}

// ask is a leader's ping, which fetches a follower's report.
func (s *server) ask(f *server) {
	if s.cut {
		return
	}
	t := max(f.nextApply, s.ens.w.now+int64(s.ens.delay()))
	f.nextApply = t
	term := f.term
	f.arrives(t, term, func() { f.report(term) })
}

// report has the leader hear of the sessions that a follower heard of since it was asked last.
func (s *server) report(term int) {
	if s.term != term || len(s.touched) == 0 {
		return
	}
	var heard []int64
	for id := range s.touched {
		heard = append(heard, id)
	}
	slices.Sort(heard)
	clear(s.touched)
	s.toLeader(func(l *server) {
		for _, id := range heard {
			l.extend(id)
		}
	})
}

// expiry is the thread that ends the sessions that ran out, at the leader.
func (s *server) expiry() {
	s.thread(func() {
		if s.up && s.serving && s.leads {
			s.sweep()
		}
		s.ens.w.after(s.ens.w.Tick/2, s.expiry)
	})
}

// freezeLeader stops the leader for less than its followers wait for it.
func (w *world) freezeLeader(d *rand.Rand) bool {
	l := w.ens.leader
	if l == nil || !l.leads || l.cut || l.frozen != 0 || w.ens.connected() < servers {
		return false
	}
	l.freeze(w.rest(d))
	return true
}

// freezeFollower stops a follower.
func (w *world) freezeFollower(d *rand.Rand) bool {
	s := w.follower(d)
	if s == nil || s.frozen != 0 {
		return false
	}
	s.freeze(w.rest(d))
	return true
}

// rest returns how long a server stands still: too short a time for the others to give it up.
func (w *world) rest(d *rand.Rand) time.Duration {
	return between(d, w.Tick/2, time.Duration(w.SyncLimit)*w.Tick*9/10)
}
