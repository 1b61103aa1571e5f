package why

import (
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// inside returns the stay that has no end yet, nil for none.
func (m *machine) inside() *stay {
	if n := len(m.stays); n > 0 && m.stays[n-1].until == 0 {
		return m.stays[n-1]
	}
	return nil
}

// addStay notes that a member has entered, or begins to leave. Without a connection it stays inside.
func (l *Log) addStay(r events.Record) {
	if machines.TraitsOf(recipeOf(r.Machine)).Grants != machines.GrantsEntry || r.To == "" {
		return
	}
	m, is := l.machineOf(r.Machine), l.class(r.Machine, r.To)
	kind := r.Event.Kind
	leaves := kind == events.CommandLeave || kind == events.CommandClose
	switch open := m.inside(); {
	case open == nil && is == events.ClassActive:
		m.stays = append(m.stays, &stay{seq: r.Seq, at: r.Event.At})
	case open != nil && (leaves || is != events.ClassActive && is != events.ClassBlocked):
		open.until = r.Event.At
	}
}

// breakStays ends what is known of stays at a gap: whether a member is inside after it, the next record of its state
// shows.
func (l *Log) breakStays(h *hole) {
	for _, m := range l.machines {
		if open := m.inside(); open != nil {
			open.until = max(h.before, open.at)
		}
	}
}
