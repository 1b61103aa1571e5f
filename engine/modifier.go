package engine

import "strings"

// Modifier says how a request is made, or what becomes of its answer. Several are
// joined by |.
type Modifier uint8

// Modifiers of requests. Each request's comment names those that it takes.
const (
	Watch     Modifier = 1 << iota // leave a watch
	Data                           // the answer carries the node's data, for what recipes themselves write
	ForUser                        // what the answer holds goes to the user, past the machine and the log
	Urgent                         // ahead of everything that waits: for the heartbeat
	Unawaited                      // nobody awaits the answer
)

var modifierNames = []string{"Watch", "Data", "ForUser", "Urgent", "Unawaited"}

// String is the modifiers' names, as they are written in Go.
func (m Modifier) String() string {
	var names []string
	for i, name := range modifierNames {
		if m&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "|")
}

// With gives the next request these modifiers: out.With(engine.Watch).Get(path). It
// panics where that request does not take one of them, and so does the step where no
// request follows: golden traces find such rows.
func (o *Outbox) With(how Modifier) *Outbox {
	o.how |= how
	return o
}
