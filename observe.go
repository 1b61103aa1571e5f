package incumbent

import (
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/async"
	"github.com/incumbent-go/incumbent/internal/clock"
	"github.com/incumbent-go/incumbent/machines"
)

// observed passes events to Config.Observe, on a goroutine of its own. It never blocks.
type observed struct {
	client *Client
	f      func(Event) // nil: nobody observes
	mail   async.Mailbox[Event]
	step   stepMark // of the notice that is being delivered; only the loop uses it
	steps  []stepMark

	dropped atomic.Uint64
}

// stepMark is the step that an effect is from.
type stepMark struct{ seq, cause uint64 }

func (o *observed) init(c *Client, f func(Event)) {
	o.client, o.f = c, f
	o.mail.Func, o.mail.Panicked = f, c.log.LogPanic("Config.Observe", "")
	o.mail.Max, o.mail.Dropped = async.MaxUncalled, &o.dropped
	o.mail.Missing = func(n uint64) Event { return o.event(stepMark{}, EventsDropped{n}) }
}

func (o *observed) on() bool { return o.f != nil }

// emit passes an event about something that the loop has just done; only the loop calls it.
func (o *observed) emit(d Detail) { o.send(o.step, d) }

// emitAside passes an event that belongs to no step.
func (o *observed) emitAside(d Detail) { o.send(stepMark{}, d) }

func (o *observed) send(mark stepMark, d Detail) {
	if o.f == nil {
		return
	}
	o.mail.Put(o.event(mark, d))
}

func (o *observed) event(mark stepMark, d Detail) Event {
	return Event{At: clock.Wall(0), Client: o.client.config.Name, Seq: mark.seq, Cause: mark.cause, Detail: d}
}

// mark notes the step of each notice that it makes; the executor gets them in this order.
func (o *observed) mark(seq, cause uint64, effects []events.Effect) {
	for _, e := range effects {
		if _, notice := e.(events.Notify); notice {
			o.steps = append(o.steps, stepMark{seq, cause})
		}
	}
}

// delivering takes the mark of the notice that is delivered next.
func (o *observed) delivering() {
	if len(o.steps) == 0 {
		return
	}
	o.step = o.steps[0]
	if o.steps = o.steps[1:]; len(o.steps) == 0 {
		o.steps = nil
	}
}

// waits has when a participant's wait began, by the loop's clock, which alone uses it.
type waits struct {
	since   int64 // when the own node was asked for
	vacated int64 // when the node ahead was seen to be deleted; 0: it was not
}

// recipe returns the name of the handle's recipe.
func (h *handle) recipe() string { return recipeOf(h.id) }

// recipeOf returns the name of the recipe of a machine.
func recipeOf(id events.ID) string {
	recipe, _, _ := strings.Cut(string(id), "-")
	return recipe
}

// place returns what events say of the participant.
func (p *participant) place(node string, token, session int64) Place {
	return Place{Path: p.path, Recipe: p.recipe(), ID: p.name, Node: node, Token: token,
		Session: session, SessionID: p.client.attachment(session).id}
}

func (t *heldTerm) place() Place {
	place := t.holder.place(t.Path, t.Token, t.Session)
	place.SessionID = t.zkSession
	return place
}

// vacated notes that the node ahead of a participant was deleted.
func (c *Client) vacated(s engine.Observed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one, known := c.handles[s.Machine].(inLine); known {
		one.asParticipant().waits.vacated = s.Event.At
	}
}

// observeBegin reports that a term began.
func (p *participant) observeBegin(t *heldTerm) {
	began := TermBegan{Place: t.place()}
	if p.waits.since != 0 {
		began.Waited = time.Duration(t.began - p.waits.since)
	}
	if p.waits.vacated != 0 {
		began.Takeover = time.Duration(t.began - p.waits.vacated)
		p.client.meters.tookOver(p.recipe(), began.Takeover)
	}
	p.waits = waits{}
	p.client.observed.emit(began)
}

// observeReturn reports that work has returned, or is no longer waited for.
func (t *heldTerm) observeReturn(late error) {
	ended := WorkEnded{Place: t.place(), Overran: errors.Is(late, ErrWorkRunning)}
	t.mu.Lock()
	if t.stopped != nil {
		ended.Late = clock.Instant().Sub(t.stopAt)
	}
	t.mu.Unlock()
	t.holder.client.observed.emitAside(ended)
}

// observeTrouble reports the failure of a handle that was just noted.
func (h *handle) observeTrouble() {
	h.mu.Lock()
	if h.failedAt == 0 {
		h.failedAt = h.client.clock.Now()
	}
	err := h.trouble
	h.mu.Unlock()
	h.client.observed.emit(Trouble{h.path, h.recipe(), err})
}

// observeRecovery reports the end of a handle's failures.
func (h *handle) observeRecovery() {
	h.mu.Lock()
	since := h.failedAt
	h.failedAt = 0
	h.mu.Unlock()
	if since != 0 {
		h.client.observed.emit(Recovered{h.path, h.recipe(), time.Duration(h.client.clock.Now() - since)})
	}
}

// observe reports a new state of the connection.
func (l *connectionLog) observe(state ConnectionState, n events.Notify, now int64) {
	a, up := l.client.attachment(n.Session), state == Connected || state == Reconnected
	changed := ConnectionChanged{From: l.before, To: state, Session: n.Session, SessionID: a.id, Paused: n.Paused}
	if l.before == "" {
		changed.From = Connecting
	}
	if l.at != 0 {
		changed.For = time.Duration(now - l.at)
	}
	if up {
		changed.Server, changed.Granted = n.Text, a.granted
	} else {
		changed.Err = asError(n.Code, n.Text)
	}
	l.before, l.at = state, now
	l.client.observed.emit(changed)
}

// budget returns how long belief lasts after a confirmation, as far as the granted timeout allows.
func (c *Client) budget() time.Duration {
	return machines.FirstBelief(c.timeout(), time.Duration(c.tick.Load()), c.config.ObserverMasters)
}
