package elasticjob

import (
	"fmt"
	"slices"
	"time"
)

// step does something to a running job, or mends what the step before it did.
type step struct {
	name string
	do   func(*stage)
}

// role is which instance a step is about: one in Java or in Go, that leads or does not.
type role struct {
	kind  kind
	leads bool
}

func (r role) String() string {
	if r.leads {
		return "the leader in " + r.kind.String()
	}
	return "a worker in " + r.kind.String()
}

// cast brings it about that an instance has this role, and returns it.
func (s *stage) cast(r role) *instance {
	s.t.Helper()
	leader := s.leader("a leader", func(*instance) bool { return true })
	if r.leads && leader.kind != r.kind {
		leader = s.makeLead(r.kind)
	}
	if r.leads {
		return leader
	}
	for _, i := range s.instances {
		if i.runs() && i.kind == r.kind && i != leader {
			return i
		}
	}
	s.t.Fatalf("there is no %s", r)
	return nil
}

// makeLead has an instance of one kind lead: the servers of the others are disabled until it does.
func (s *stage) makeLead(k kind) *instance {
	s.t.Helper()
	var others []*instance
	for _, i := range s.instances {
		if i.runs() && i.kind != k {
			others = append(others, i)
			s.enable(i, false)
		}
	}
	leader := s.leader("a leader in "+k.String(), func(i *instance) bool { return i.kind == k })
	begun := time.Now()
	for _, i := range others {
		s.enable(i, true)
	}
	s.whole(fmt.Sprintf("%s leads", leader.name), begun, 1)
	return leader
}

// killed, expired, disabled and removed are what happens to an instance, each with what mends it.
func killed(r role) []step {
	var i *instance
	return []step{
		{"kill -9 of " + r.String(), func(s *stage) { i = s.cast(r); s.timed(func() { i.kill() }) }},
		{"after that, an instance is added", func(s *stage) { s.launched(i) }},
	}
}

func expired(r role) []step {
	return []step{{"the session ends of " + r.String(), func(s *stage) { i := s.cast(r); s.timed(i.expire) }}}
}

// disabled lets no instance in Java lead after one in Java. ElasticJob 3.0.4 may never deal the items of the
// first then: when the others hear of the disabled server, it leads, and when it hears, it leads no more, so
// nobody asks for it.
func disabled(r role) []step {
	var all []*instance
	enable := func(s *stage, enabled bool) {
		for _, i := range all {
			s.enable(i, enabled)
		}
	}
	return []step{
		{"the server is disabled of " + r.String(), func(s *stage) {
			all = []*instance{s.cast(r)}
			for _, i := range s.instances {
				if r.leads && r.kind == inJava && i.runs() && i.kind == inJava && i != all[0] {
					all = append(all, i)
					begun := time.Now()
					s.enable(i, false)
					s.whole(i.name+" is disabled", begun, 1)
				}
			}
			s.timed(func() { s.enable(all[0], false) })
		}},
		{"after that, it is enabled", func(s *stage) { s.timed(func() { enable(s, true) }) }},
	}
}

func removed(r role) []step {
	var i *instance
	return []step{
		{"an instance is removed in order, " + r.String(), func(s *stage) { i = s.cast(r); s.timed(i.close) }},
		{"after that, one is added", func(s *stage) { s.launched(i) }},
	}
}

// common are the steps that are about no instance.
func common() []step {
	return []step{
		{"the marker is deleted", func(s *stage) {
			s.timed(func() { ok(s.t, s.conn.Delete(s.node("leader", "election", "instance"), -1)) })
		}},
		{"there are more items", func(s *stage) { s.timed(func() { s.setTotal(7) }) }},
		{"there are fewer items", func(s *stage) { s.timed(func() { s.setTotal(4) }) }},
	}
}

// every returns each step there is, for instances of these kinds.
func every(kinds ...kind) (all []step) {
	for _, k := range kinds {
		for _, leads := range []bool{true, false} {
			r := role{k, leads}
			all = slices.Concat(all, killed(r), expired(r), removed(r))
			if r != (role{inJava, true}) || len(kinds) > 1 {
				all = append(all, disabled(r)...)
			}
		}
	}
	return append(all, common()...)
}

// launched starts an instance. The step begins when it takes part: how long a process takes to start is no matter.
func (s *stage) launched(i *instance) {
	i.launch()
	s.timed(func() {})
}

// timed does what a step does, and notes when it began.
func (s *stage) timed(do func()) {
	s.begun = time.Now()
	do()
}

// start starts instances in an order, as in "JGJG". If the first is in Go, the job's configuration is there
// before it.
func (s *stage) start(order string) {
	s.t.Helper()
	if order[0] == byte(inGo) {
		s.configure()
	}
	for n, k := range order {
		i := s.add(kind(k))
		i.launch()
		if n == 0 {
			s.leader("the first instance to lead", func(first *instance) bool { return first == i })
		}
	}
}

// measure is how long one step took until the job was whole again.
type measure struct {
	step  string
	took  time.Duration
	twice int

	reminded bool // a leader in Java had to be reminded, which takes periods
}

// play starts instances and takes the steps, one after another, with so many whole periods after each.
func (s *stage) play(order string, periods int, steps []step) (all []measure) {
	s.t.Helper()
	s.start(order)
	begun := time.Now()
	s.note(&all, "start of "+order, begun, s.whole("start of "+order, begun, periods))
	for _, step := range steps {
		step.do(s)
		s.note(&all, step.name, s.begun, s.whole(step.name, s.begun, periods))
	}
	return all
}

func (s *stage) note(all *[]measure, name string, begun time.Time, how settled) {
	m := measure{name, time.UnixMilli(how.first).Sub(begun).Round(10 * time.Millisecond), how.twice, s.reminded}
	s.reminded = false
	*all = append(*all, m)
	s.t.Logf("%-60s %8s  items twice in a period: %d; so far by Java's fault: at a time %d, flags lost %d",
		m.step, m.took, m.twice, how.overlaps, s.reminders)
}
