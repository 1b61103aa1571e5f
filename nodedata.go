package incumbent

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/incumbent-go/incumbent/events"
)

// nodeData has the data that SetData was called with. Machines and the log know only their
// numbers. The machine uses the highest number that it was given. If a write of that is
// refused, it goes back to the data that the node has. So everything else is forgotten.
type nodeData struct {
	broken func(at, format string, args ...any) // reports a broken invariant; nil: they are not checked

	mu  sync.Mutex
	all []*payload // in the order of their numbers; the last are the newest
}

// payload are data that wait for a request, or were sent.
type payload struct {
	number uint64
	data   []byte
	sent   bool // other data have another number from then on
	// mayStay says that the node may have these data without an answer that says so.
	mayStay   bool
	forgotten bool // data is nil: no request will need them

	command  uint64        // sets them; 0: none did
	answered chan struct{} // closed when the command was answered
	err      error         // the answer; read after answered is closed
}

func (p *payload) isAnswered() bool {
	select {
	case <-p.answered:
		return true
	default:
		return false
	}
}

// first takes the data that the machine is opened with, and returns their number.
func (d *nodeData) first(data []byte) uint64 {
	p := &payload{number: 1, data: bytes.Clone(data), answered: make(chan struct{})}
	close(p.answered)
	d.all = []*payload{p}
	return p.number
}

// set replaces the data, and waits until the machine has answered, or until ctx ends. The
// command stays at the machine then, because its answer says when older data are not needed.
func (d *nodeData) set(ctx context.Context, s *persistentHandle, data []byte) error {
	p, err := d.replace(s, data)
	if err != nil {
		return err
	}
	select {
	case <-p.answered:
		return p.err
	case <-s.commands.ended:
	case <-s.client.closed:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if p.isAnswered() { // the last answer comes just before the machine closes
		return p.err
	}
	return ErrClosed
}

// replace makes these data the newest. Those that were the newest are overwritten if no
// request has had them and their command is not answered: that command is this one's, too.
func (d *nodeData) replace(s *persistentHandle, data []byte) (*payload, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	last := d.all[len(d.all)-1]
	if !last.sent && !last.isAnswered() {
		last.data = bytes.Clone(data)
		return last, nil
	}
	p := &payload{number: last.number + 1, data: bytes.Clone(data), answered: make(chan struct{})}
	var err error
	if p.command, _, err = s.commands.begin(s.client, s.id, events.Event{Kind: events.CommandSet, Work: p.number}); err != nil {
		return nil, err
	}
	d.all = append(d.all, p) // before the loop can ask for them: it waits for the lock
	return p, nil
}

// use returns the data with this number, which a request is about to send; on the loop's
// goroutine. A create sends the first data of a new node.
func (d *nodeData) use(n uint64, creates bool) (data []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := false
	for _, p := range d.all {
		if creates {
			p.mayStay = false
		}
		if p.number == n {
			known = !p.forgotten
			p.sent, data = true, p.data
			p.mayStay = p.mayStay || creates || p.isAnswered()
		}
	}
	if !known && d.broken != nil {
		d.broken("a request", "the data with number %d are forgotten", n)
	}
	d.forget(n, false)
	return data
}

// answered takes the machine's answer to a command; on the loop's goroutine.
func (d *nodeData) answered(a events.Answer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.all {
		if p.command == a.Command && !p.isAnswered() {
			p.err = asError(a.Code, a.Text)
			p.mayStay = p.mayStay || a.Code == events.OK
			close(p.answered)
			d.forget(p.number, a.Code == events.OK)
			return
		}
	}
}

// forget forgets what is older than the n-th data, which the machine has: all, or what the
// node cannot have. The caller holds the lock.
func (d *nodeData) forget(n uint64, all bool) {
	for _, p := range d.all {
		if p.number < n && (all || !p.mayStay) {
			p.data, p.forgotten = nil, true
		}
	}
	d.all = slices.DeleteFunc(d.all, func(p *payload) bool { return p.forgotten && p.isAnswered() })
}
