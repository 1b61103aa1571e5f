package incumbent

import (
	"context"
	"errors"
	"maps"
	"strconv"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// numberCall is the handle of the machine of one operation on a number. It decides nothing.
type numberCall struct {
	handle
	value   int64 // under mu, as the fields below
	version int32
	known   bool
}

// Close ends an operation with its client.
func (x *numberCall) Close(ctx context.Context) error { return x.end(ctx, false) }

// notice takes the number that was read or written; on the loop's goroutine.
func (x *numberCall) notice(n events.Notify) {
	if n.What == events.Value {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.value = n.Value
		x.version, x.known = int32(n.Work), true
		return
	}
	x.noteTrouble(n)
}

// number is what numbers in nodes share.
type number struct {
	client *Client
	path   string
	fixed  map[string]string // options that every operation has
}

// Path returns the node's path.
func (n *number) Path() string { return n.path }

// errUnexpectedValue means that the number is not the one that the call expects. No caller
// gets it.
var errUnexpectedValue = errors.New("incumbent: the number is another one")

// errLostRace means that another client wrote first in one attempt more than allowed. No
// caller gets it.
var errLostRace = errors.New("incumbent: another client wrote first")

// do carries out one operation, which an error calls op. It returns the number with errUnexpectedValue, too.
func (n *number) do(ctx context.Context, op, task string, options map[string]int64) (value int64, version int32, err error) {
	n.client.check(ctx)
	x := &numberCall{}
	x.init(n.client, n.path)
	open := events.Event{Path: n.path, Options: maps.Clone(n.fixed)}
	open.Options["task"] = task
	for name, v := range options {
		open.Options[name] = strconv.FormatInt(v, 10)
	}
	if _, err := n.client.register(machines.NumberRecipe.Name(), func(id events.ID) receiver {
		x.id = id
		return x
	}, open); err != nil {
		return 0, 0, asCallError(op, n.path, err)
	}
	command, replied, err := x.commands.begin(n.client, x.id, events.Event{Kind: events.CommandStart})
	if err != nil {
		return 0, 0, asCallError(op, n.path, err)
	}
	err = x.awaitOutcome(ctx, oneCommand{op: op, number: command, replied: replied})
	x.mu.Lock()
	defer x.mu.Unlock()
	var refused *Error
	switch {
	case !errors.As(err, &refused) || refused.Code != events.BadVersion:
	case x.known:
		err = errUnexpectedValue
	default:
		err = errLostRace
	}
	return x.value, x.version, err
}

func (x *numberCall) answer(a events.Answer) { x.deliver(a) }
func (x *numberCall) entered(state string)   { x.enter(state) }
