package systems

import (
	"slices"
	"time"
)

// hadoop is the election of Hadoop's failover controllers: one ephemeral node without a line, and a second node that
// says who was active last, and has to be fenced by the next.
var hadoop = &system{
	name: "Hadoop 3.4.1", key: "hadoop", short: true, members: 1,
	work: "two `ActiveStandbyElector`s, and a Go `NodeElection`; the next active one fences the last",
	play: playHadoop,
	races: map[string]string{
		"exists -101":  lockGone,
		"getData -101": lockGone,
	},
}

// lockGone is the reason for a code that says that the lock is not there.
const lockGone = "a standby looks at the lock of an active one that has just gone"

const (
	hadoopParent  = "/hadoop-ha/systems"
	hadoopLock    = hadoopParent + "/ActiveStandbyElectorLock"
	hadoopTimeout = 6 * time.Second
)

func playHadoop(s *stage) {
	for _, name := range []string{"nn1", "nn2"} {
		p := s.process(name)
		p.java("Hadoop", p.servers, hadoopParent, name, millis(hadoopTimeout))
		p.do("join")
	}
	quit := false // in order: the next one must not fence
	c := contest{look: nodeLook(hadoopLock)}
	c.settle = func(before, _ place) string { return s.active(c, before, quit) }
	s.timed("two electors start", func() string { return s.active(c, place{}, false) })
	s.expiries(3, c)
	s.cuts(3, c)
	var last *process
	quit = true
	s.changes("the active one quits in order", c, func(before place) {
		last = s.owner(before)
		last.do("quit")
	})
	quit = false
	last.do("join")
	s.outage(c)
	s.kills(c, func(p *process) string {
		from := s.now()
		p.start()
		p.do("join")
		p.await(from, "standby")
		return "it is standby"
	})
	s.withGo(c)
}

// withGo kills both electors while a participant in Go waits, and then that one: each time the next fences the last.
// One that quits in order is fenced by neither.
func (s *stage) withGo(c contest) {
	s.t.Helper()
	electors := slices.Clone(s.processes)
	inGo := s.process("go")
	s.timed("a participant in Go joins", func() string {
		inGo.golang("elector", inGo.servers, hadoopParent, inGo.name, millis(hadoopTimeout))
		from := s.now()
		inGo.do("join")
		inGo.await(from, "standby")
		return "it is standby"
	})
	succeeds := func(next *process, last string, fences bool) string {
		next.await(s.from, "active")
		if said := s.between(next, s.from, "active"); slices.Contains(said, "fence "+last) != fences {
			s.t.Errorf("%s is active after %s; fencing it: want %t: %q\n%s", next.name, last, fences, said, s.picture())
		}
		if fences {
			return "the next is active, and has fenced the last"
		}
		return "the next is active, and has not fenced"
	}
	last := s.elected(c, place{}).data
	s.from = s.now()
	s.timed("kill -9 of both electors", func() string {
		for _, p := range electors {
			p.kill()
		}
		return succeeds(inGo, last, true)
	})
	from := s.now()
	electors[0].start()
	electors[0].do("join")
	electors[0].await(from, "standby")
	s.from = s.now()
	s.timed("kill -9 of the participant in Go", func() string {
		inGo.kill()
		return succeeds(electors[0], inGo.name, true)
	})
	from = s.now()
	inGo.golang("elector", inGo.servers, hadoopParent, inGo.name, millis(hadoopTimeout))
	inGo.do("join")
	inGo.await(from, "standby")
	s.from = s.now()
	s.timed("the elector quits in order", func() string {
		electors[0].do("quit")
		return succeeds(inGo, electors[0].name, false)
	})
	from = s.now()
	electors[0].do("join")
	electors[0].await(from, "standby")
	s.from = s.now()
	s.timed("the participant in Go quits in order", func() string {
		inGo.do("quit")
		return succeeds(electors[0], inGo.name, false)
	})
}

// active waits until the elected one says that it is active. It must have fenced the one that was active before, if
// that was another, and has not quit in order.
func (s *stage) active(c contest, before place, quit bool) string {
	s.t.Helper()
	now, from := place{}, s.from
	by := s.await(from, "the elected one to be active", func(said saying) bool {
		if said.text != "active" {
			return false
		}
		now = s.elected(c, place{})
		return s.owner(now) == said.by
	}).by
	fenced := slices.Contains(s.between(by, from, "active"), "fence "+before.data)
	if want := before.data != "" && before.data != now.data && !quit; fenced != want {
		s.t.Errorf("%s is active after %s: fenced: %t, want %t\n%s", now.data, before.data, fenced, want, s.picture())
	}
	if quit {
		return "the next is active, and has not fenced"
	}
	return "one is active, and has fenced another that was"
}
