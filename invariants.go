package incumbent

import (
	"fmt"
	"sync"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/belief"
)

// maxKept bounds what waits in a client, checked in tests only. It is far above what tests
// need, and far below what a queue without an end would reach there.
const maxKept = 200 // replies of one machine whose data wait for its notice

// clientInvariants checks what is true of a client's handles, and panics if something is
// not. It is nil unless tests ask for it: see internal/invariants.
type clientInvariants struct {
	client *Client

	mu    sync.Mutex
	terms map[*heldTerm]*sighting // the terms that have not ended, as readers have seen them
}

// sighting is what readers of a term have seen last.
type sighting struct {
	until  int64
	passed bool
}

// broken panics. Who is a machine or its handle, and at is what happened to it.
func (v *clientInvariants) broken(who events.ID, at, format string, args ...any) {
	panic(fmt.Sprintf("%s (%q): handle of machine %s, %s: broken invariant: %s",
		v.client, v.client.config.Name, who, at, fmt.Sprintf(format, args...)))
}

// of returns broken for one machine; nil if nothing is checked.
func (v *clientInvariants) of(who *events.ID) func(at, format string, args ...any) {
	if v == nil {
		return nil
	}
	return func(at, format string, args ...any) { v.broken(*who, at, format, args...) }
}

// published checks that a deadline that a reader found to be in the past is not replaced by
// a later one. Before is the deadline that the loop has just replaced.
func (v *clientInvariants) published(before *belief.SessionDeadline) {
	if v == nil || before == nil || !before.Passed {
		return
	}
	if after := v.client.belief.Present(); after.Session == before.Session && after.Until != 0 && !after.Passed {
		v.broken(events.SessionMachine, "effect deadline", "belief returns after its deadline had passed")
	}
}

// read checks that the deadline of a term does not move back, and that there is no belief
// after a reader found that there is none.
func (v *clientInvariants) read(t *heldTerm) {
	if v == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	seen, until := v.terms[t], v.client.belief.Until(t.Session)
	switch {
	case seen == nil || t.over.Load():
		return
	case until == 0:
		seen.passed = true
		return
	case seen.passed:
		v.broken(t.holder.id, "a read of ValidUntil", "belief returns within the term with token %d", t.Token)
	case until < seen.until:
		v.broken(t.holder.id, "a read of ValidUntil", "ValidUntil moves back by %d ns within the term with token %d", seen.until-until, t.Token)
	}
	seen.until = until
}

// begins checks that a participant has one term at a time, and no work of an earlier one.
func (v *clientInvariants) begins(t *heldTerm) {
	if v == nil {
		return
	}
	t.holder.mu.Lock()
	last, present := t.holder.last, t.holder.term
	t.holder.mu.Unlock()
	switch {
	case present != nil:
		v.broken(t.holder.id, "notice elected", "a term begins within the term with token %d", present.Token)
	case last != nil && last.working() > 0:
		v.broken(t.holder.id, "notice elected", "a term begins, and %d pieces of work of the last have not returned", last.working())
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.terms[t] = &sighting{}
}

// ends notes the end of a term, which is not nil.
func (v *clientInvariants) ends(p *participant, t *heldTerm) {
	if v == nil {
		return
	}
	if t == nil {
		v.broken(p.id, "notice stopped", "a term ends that has not begun")
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.terms, t)
}

// pairs returns what checks that the calls of one listener come in pairs; nil if nothing is
// checked.
func (v *clientInvariants) pairs(who *events.ID) func(change) {
	if v == nil {
		return nil
	}
	leads := false
	return func(c change) {
		if began := c.lost == nil; began == leads {
			v.broken(*who, "a call of a listener", "leadership began: %t, and before: %t", began, leads)
		}
		leads = !leads
	}
}

// works checks that a participant has work under one term at a time that was not stopped.
// The caller holds the lock of the watch.
func (v *clientInvariants) works(w *deadlineWatch, t *heldTerm) {
	if v == nil {
		return
	}
	for other := range w.terms {
		if other != t && other.holder == t.holder {
			v.broken(t.holder.id, "a grant", "there is work under the terms with tokens %d and %d", other.Token, t.Token)
		}
	}
}

// working returns how many pieces of work have not returned.
func (t *heldTerm) working() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.works)
}

// feeds checks that a feed has one value for each key.
func (v *clientInvariants) feeds(keys, values int, key string) {
	if v != nil && keys != values {
		v.broken("", "a value for the feed's key "+key, "%d values wait, of %d keys", values, keys)
	}
}
