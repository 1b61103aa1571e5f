package world

import "github.com/incumbent-go/incumbent/events"

// confirm posts that a write was committed which no machine has sent.
func (x *executor) confirm(a *Packet) {
	multi, write := a.Request.(events.Multi)
	if write && a.Code == events.OK && x.confirmations.Confirmed(a.SentAt, x.timeout) {
		x.post(events.SessionMachine, events.Confirmation(multi, a.SentAt, a.contact, a.zxid))
	}
}
