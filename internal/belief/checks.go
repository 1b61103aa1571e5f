package belief

import (
	"fmt"
	"sync"

	"github.com/incumbent-go/incumbent/events"
)

// Checks checks what is true of a client's handles, and panics if something is
// not. It is nil unless tests ask for it: see internal/invariants.
type Checks struct {
	Client   string // names the client
	Deadline *Deadline

	mu    sync.Mutex
	terms map[any]*sighting // the terms that have not ended, as readers have seen them
}

// sighting is what readers of a term have seen last.
type sighting struct {
	until  int64
	passed bool
}

// Broken panics. Who is a machine or its handle, and at is what happened to it.
func (v *Checks) Broken(who events.ID, at, format string, args ...any) {
	panic(fmt.Sprintf("%s: handle of machine %s, %s: broken invariant: %s",
		v.Client, who, at, fmt.Sprintf(format, args...)))
}

// Of returns Broken for one machine; nil if nothing is checked.
func (v *Checks) Of(who *events.ID) func(at, format string, args ...any) {
	if v == nil {
		return nil
	}
	return func(at, format string, args ...any) { v.Broken(*who, at, format, args...) }
}

// Published checks that a deadline that a reader found to be in the past is not replaced by
// a later one. Before is the deadline that the loop has just replaced.
func (v *Checks) Published(before *SessionDeadline) {
	if v == nil || before == nil || !before.Passed {
		return
	}
	if after := v.Deadline.Present(); after.Session == before.Session && after.Until != 0 && !after.Passed {
		v.Broken(events.SessionMachine, "effect deadline", "belief returns after its deadline had passed")
	}
}

// Read checks that the deadline of a term does not move back, and that there is no belief
// after a reader found that there is none.
func (v *Checks) Read(t any, who events.ID, session, token int64) {
	if v == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	seen, until := v.terms[t], v.Deadline.Until(session)
	switch {
	case seen == nil:
		return
	case until == 0:
		seen.passed = true
		return
	case seen.passed:
		v.Broken(who, "a read of ValidUntil", "belief returns within the term with token %d", token)
	case until < seen.until:
		v.Broken(who, "a read of ValidUntil", "ValidUntil moves back by %d ns within the term with token %d",
			seen.until-until, token)
	}
	seen.until = until
}

// Begins checks that a participant has one term at a time, and no work of an earlier one. Present is the token of the
// term that it has, 0 for none, and working is how many pieces of work of the last term have not returned.
func (v *Checks) Begins(t any, who events.ID, present int64, working int) {
	if v == nil {
		return
	}
	switch {
	case present != 0:
		v.Broken(who, "notice elected", "a term begins within the term with token %d", present)
	case working > 0:
		v.Broken(who, "notice elected", "a term begins, and %d pieces of work of the last have not returned", working)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.terms == nil {
		v.terms = map[any]*sighting{}
	}
	v.terms[t] = &sighting{}
}

// Ends notes the end of a term, which has begun.
func (v *Checks) Ends(t any, who events.ID, begun bool) {
	if v == nil {
		return
	}
	if !begun {
		v.Broken(who, "notice stopped", "a term ends that has not begun")
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.terms, t)
}

// Feeds checks that a feed has one value for each key.
func (v *Checks) Feeds(keys, values int, key string) {
	if v != nil && keys != values {
		v.Broken("", "a value for the feed's key "+key, "%d values wait, of %d keys", values, keys)
	}
}
