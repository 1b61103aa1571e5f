package zkio

import (
	"sync"

	"github.com/incumbent-go/incumbent/events"
)

// treeSupport is what a client has learned of its servers: whether they know recursive
// watches (ZooKeeper 3.6). One that does not answers UNIMPLEMENTED and closes the connection,
// or closes it without an answer. So after the first such answer, or two connections that
// ended without one, none is asked for any more, by no machine and in no later session. An
// ensemble that is being upgraded has servers of both kinds.
type treeSupport struct {
	mu         sync.Mutex // held for no call of others
	off        string     // why none is asked for; "": it may be
	works      bool       // a server has set one
	unanswered int        // connections that ended while the first was pending
}

// maxUnanswered is how many connections may end so.
const maxUnanswered = 2

// turnOff keeps all recursive watches from being asked for.
func (t *treeSupport) turnOff(why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.off = why
}

// refusal returns why a recursive watch is not asked for, "" if it is.
func (t *treeSupport) refusal() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.off
}

// answered notes a server's answer to a request for one.
func (t *treeSupport) answered(code events.Code) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch code {
	case events.OK:
		t.works = true
	case events.Unimplemented:
		t.off = "a server of the ensemble does not know recursive watches"
	}
}

// lost notes that a connection ended while a request for one was pending.
func (t *treeSupport) lost() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.unanswered++; !t.works && t.unanswered >= maxUnanswered {
		t.off = "connections end when a recursive watch is asked for"
	}
}
