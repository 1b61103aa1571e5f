package wire

import (
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// watchedWithin is how long after the beginning of a term, or of a connection in it, a leader has asked for a watch on
// its own node at the latest.
const watchedWithin = time.Second

// leaders is what the log of a client says of its terms in the lines of this world.
type leaders struct {
	attached bool
	terms    map[events.ID]term
	asked    map[string]bool // machines and the nodes that they asked to watch on this connection
}

// term is one that goes on.
type term struct {
	path  string
	since time.Duration // when the term, or the connection, began
}

// leadersWatch checks that who leads, or has the lock, has a watch on its own node soon.
func (c *client) leadersWatch(records []events.Record) {
	l := leaders{terms: map[events.ID]term{}, asked: map[string]bool{}}
	for _, rec := range records {
		now := time.Duration(rec.Event.At)
		l.note(rec, now)
		for id, t := range l.terms {
			late := l.attached && !l.asked[string(id)+" "+t.path] && now-t.since > watchedWithin
			if late && !c.stoodStill(t.since, now) {
				c.w.fail("a leader watches its own node", "%s: %s leads by %s since %s, and has no watch on it by %s",
					c.name, id, t.path, t.since, now)
				return
			}
		}
	}
}

// note notes a record.
func (l *leaders) note(rec events.Record, now time.Duration) {
	switch {
	case rec.Machine != events.SessionMachine && rec.To != "leading":
		delete(l.terms, rec.Machine)
	case rec.Machine == events.SessionMachine && rec.Event.Kind == events.ConnectionSuspended:
		l.attached = false
		clear(l.asked)
	case rec.Machine == events.SessionMachine && rec.Event.Kind == events.ConnectionAttached:
		l.attached = true
		for id, t := range l.terms {
			l.terms[id] = term{t.path, now}
		}
	}
	for _, effect := range rec.Effects.Strings() {
		if path, elected := strings.CutPrefix(effect, "notify elected "); elected {
			path, _, _ = strings.Cut(path, " ")
			if strings.HasPrefix(path, lineDir+"/") || strings.HasPrefix(path, lockDir+"/") {
				l.terms[rec.Machine] = term{path, now}
			}
		}
		if _, get, reads := strings.Cut(effect, " get "); reads && strings.Contains(get, " watch") {
			path, _, _ := strings.Cut(get, " ")
			l.asked[string(rec.Machine)+" "+path] = true
		}
	}
}
