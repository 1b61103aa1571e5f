package engine

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/incumbent-go/incumbent/events"
)

// Verifier is a model whose parts could contradict each other. Verify is called with a
// model from a checkpoint, whose fields may have any value, and returns an error if no
// sequence of events leads to them and a row could panic or not return because of that.
type Verifier interface {
	Verify() error
}

// check returns an error if a machine that was read could not be in an engine.
func (k *checkpointReader) check(m savedMachine, r *recipe) error {
	_, stamps := m.model.(Stamper)
	switch {
	case m.id == "" || m.id == events.All:
		return errors.New("this is no machine's id")
	case k.ids[m.id]:
		return errors.New("the machine is there twice")
	case !r.rests(m.state):
		return fmt.Errorf("no %s stays in the state %.40q", m.recipe, string(m.state))
	case m.state == r.chart.final && (m.id != events.SessionMachine || !stamps):
		return errors.New("the machine is closed")
	}
	if err := m.pending.check(); err != nil {
		return err
	}
	if v, ok := m.model.(Verifier); ok {
		return v.Verify()
	}
	return nil
}

// check returns an error if a machine could not await this.
func (d pending) check() error {
	if d.last >= math.MaxInt64 {
		return fmt.Errorf("the last number of a request is %d", d.last)
	}
	numbers := map[uint64]bool{}
	for _, a := range d.open {
		kind, creates := a.kind(), a.kind() == events.ReplyCreate
		switch {
		case a.number == 0 || a.number > d.last:
			return fmt.Errorf("the request %d is pending, and the last is %d", a.number, d.last)
		case numbers[a.number]:
			return fmt.Errorf("the request %d is pending twice", a.number)
		case !answers(kind) && !creates || !a.timer && kind == events.TimerFired:
			return fmt.Errorf("no request is answered by %.40q", a.what)
		case a.what == "":
			return fmt.Errorf("the timer %d has no name", a.number)
		case a.mayCreate && !creates:
			return fmt.Errorf("the request %d creates nothing", a.number)
		}
		numbers[a.number] = true
	}
	return nil
}

// checkTimers returns an error if a timer runs that no machine awaits, or they are not in
// their order.
func (k *checkpointReader) checkTimers() error {
	for i, t := range k.timers {
		key := timerKey{t.machine, t.number}
		switch {
		case !k.timed[key]:
			return fmt.Errorf("the timer %d of %.40q runs twice, or no machine awaits it", t.number, t.machine)
		case i > 0 && k.timers[i-1].at > t.at:
			return fmt.Errorf("the timer %d of %.40q is out of order", t.number, t.machine)
		}
		delete(k.timed, key)
	}
	return nil
}

// rests reports whether a machine can be in a state between two steps.
func (c *compiled) rests(s State) bool {
	listed := slices.ContainsFunc(c.chart.states, func(d StateDoc) bool { return d.Name == s })
	return listed && !c.choice(s)
}
