package machines

import (
	"slices"
	"testing"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// A request goes on in the next session if it is a read, or has not been sent, or if the node that it may have created
// is still there and can be found.
func TestARequestThatOutlivesItsSession(t *testing.T) {
	in := func(mode events.Mode, change func(*request)) *request {
		r := &request{ops: []events.Op{{Verb: "create", Path: "/n", Mode: mode}}, session: 1, protected: true,
			mayExist: true}
		if change != nil {
			change(r)
		}
		return r
	}
	goesOn := func(r *request, code events.Code) bool { return r.survivesSession(events.Event{Code: code}) }
	decide(t, []decision{
		{"a protected node that may exist", goesOn(in(events.Persistent, nil), events.SessionExpired), true},
		{"the client is closed", goesOn(in(events.Persistent, nil), events.Closed), false},
		{"no create was sent since", goesOn(in(events.Persistent, func(r *request) {
			r.mayExist = false
		}), events.SessionExpired), false},
		{"the node went with its session", goesOn(in(events.EphemeralSequential, nil), events.SessionExpired), false},
		{"the node cannot be found", goesOn(in(events.Persistent, func(r *request) {
			r.protected = false
		}), events.SessionExpired), false},
		{"nothing was sent", goesOn(in(events.Ephemeral, func(r *request) {
			r.session, r.mayExist = 0, false
		}), events.SessionExpired), true},
		{"a read", goesOn(in("", func(r *request) { r.ops[0].Verb, r.mayExist = "get", false }), events.SessionExpired),
			true},
	})
}

// A withdrawn call has an answer of its own, before the command that withdrew it.
func TestAWithdrawnRequestIsAnswered(t *testing.T) {
	for command, want := range map[uint64][]events.Answer{
		4: {{Command: 4, Code: events.Closed}, {Command: 7}},
		0: {{Command: 7}}, // it was answered before
	} {
		r := &request{ops: []events.Op{{Verb: "get", Path: "/x"}}, command: command}
		got := found[events.Answer](effects(t, func(out *engine.Outbox) {
			r.noteClose(events.Event{Request: 7}, out)
			r.withdraw(events.Event{}, out)
		}))
		if !slices.Equal(got, want) {
			t.Errorf("command %d: %+v, want %+v", command, got, want)
		}
	}
}
