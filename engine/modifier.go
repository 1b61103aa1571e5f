package engine

import "strings"

// Modifier says how a request is sent, or who gets its reply. Several are joined by |.
type Modifier uint8

// Modifiers of requests. Each request's comment names those that it takes.
const (
	Watch     Modifier = 1 << iota // leave a watch
	Data                           // the reply has the node's data: for nodes that recipes themselves write
	ForUser                        // the data in the reply go to the user, and neither to the machine nor to the log
	Urgent                         // is sent before all requests that wait: for the heartbeat
	Unawaited                      // the machine does not await the reply
)

var modifierNames = []string{"Watch", "Data", "ForUser", "Urgent", "Unawaited"}

// String returns the modifiers' names, as they are written in Go.
func (m Modifier) String() string {
	var names []string
	for i, name := range modifierNames {
		if m&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "|")
}

// With gives the next request these modifiers: out.With(engine.Watch).Get(path). That
// request panics if it does not take one of them; the step panics if no request follows.
// Golden traces find such rows.
func (o *Outbox) With(how Modifier) *Outbox {
	o.how |= how
	return o
}
