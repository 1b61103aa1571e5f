package engine

import (
	"sync"

	"github.com/incumbent-go/incumbent/events"
)

// steppers are those of one chart, for the machines of all engines: a step takes one, and no
// other step uses it at the same time. So there are as many as steps were taken at once, which
// is what a program with many clients needs: a looplab object takes some 10 kB.
type steppers struct {
	*compiled
	modelType *modelType
	news      []events.Effect  // the events.Entered of each state, in the order of the chart
	places    map[State]uint16 // of the states in it

	mu   sync.Mutex
	idle []*stepper
}

func newSteppers(c *compiled, of *modelType) *steppers {
	s := &steppers{compiled: c, modelType: of, places: map[State]uint16{}}
	for i, state := range c.chart.states {
		s.news, s.places[state.Name] = append(s.news, state.entered()), uint16(i)
	}
	return s
}

// step changes one machine by one event. After a panic its stepper is not used again.
func (s *steppers) step(model any, state State, ev *events.Event, out *Outbox) Transition {
	r := s.take()
	t := r.step(model, state, ev, out)
	s.give(r)
	return t
}

// lazy is a recipe that is made when it is used for the first time, which may be by several engines at once.
type lazy struct {
	mu   sync.Mutex
	made *recipe
}

func (l *lazy) get(make func() *recipe) *recipe {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.made == nil {
		l.made = make()
	}
	return l.made
}

func (s *steppers) take() *stepper {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.idle) - 1
	if last < 0 {
		return newStepper(s.compiled)
	}
	r := s.idle[last]
	s.idle = s.idle[:last]
	return r
}

func (s *steppers) give(r *stepper) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = append(s.idle, r)
}
