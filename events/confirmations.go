package events

import "time"

// Confirmations selects, of the committed writes that no machine has sent, those that the session machine
// gets as connection.confirmed. Its zero value is for a new session. To keep the log short, one in a
// sixteenth of the session timeout is enough: that is less than the time between two heartbeats.
type Confirmations struct{ lastSent int64 }

// Confirmed reports whether the session machine gets a write that was sent at an instant and then
// committed.
func (c *Confirmations) Confirmed(sent int64, timeout time.Duration) bool {
	if c.lastSent != 0 && sent-c.lastSent < int64(timeout)/16 {
		return false
	}
	c.lastSent = sent
	return true
}

// Confirmation returns the event about such a write. If it began with a check, as one under a leadership
// does, Path is the node that was found.
func Confirmation(write Multi, sent, contact, zxid int64) Event {
	ev := Event{Kind: ConnectionConfirmed, Session: write.Session, SentAt: sent, Contact: contact, Zxid: zxid}
	if len(write.Ops) > 0 && write.Ops[0].Verb == "check" {
		ev.Path = write.Ops[0].Path
	}
	return ev
}
