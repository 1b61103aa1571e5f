package incumbent

import (
	"context"
	"strconv"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// LatchOptions shape a latch, selector or election. The zero value is good.
type LatchOptions struct {
	// ID is what other participants see of this one: a host name, say. It is the
	// node's data, as Curator's id is. Empty is Curator's default, too.
	ID string
	// CloseMode says whether Close tells the listeners.
	CloseMode CloseMode
	// Retry paces attempts after a failure. By default they go on for ever, with
	// waits of up to 30 s; a policy that gives up closes the handle.
	Retry RetryPolicy
	// WorkGrace is how long work may go on after its context has ended before the
	// node is deleted, or a new term begun, without waiting for it any longer:
	// that is logged, and two pieces of work may then run at once. Zero, the
	// default, waits for ever. Work that Close finds running counts from Close.
	WorkGrace time.Duration
	// TokenFloor refuses leadership with a token below it: keep the highest token
	// that was ever used, and an ensemble that was restored from an older backup
	// is found out.
	TokenFloor int64
}

func (o LatchOptions) open(path string, rideOut bool) events.Event {
	options := map[string]string{
		"rideOut":    strconv.FormatBool(rideOut),
		"tokenFloor": strconv.FormatInt(o.TokenFloor, 10),
	}
	pace(options, o.Retry)
	return events.Event{Path: path, Data: []byte(o.ID), Options: options}
}

// Latch waits in line until it leads, and leads until it is closed, resigns or
// loses leadership; then it waits again. It is Curator's LeaderLatch, on the
// same names: Go and Java may share one line.
//
// All its methods are safe to call from any goroutine.
type Latch struct{ participant }

// Latch makes a latch on a line: a directory that is made when it is missing.
// It does nothing before Start. The error says what is wrong with the path, or
// is ErrClosed.
func (c *Client) Latch(path string, options LatchOptions) (*Latch, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	if err := checkOptions(options); err != nil {
		return nil, err
	}
	l := &Latch{}
	l.prepare(c, path, options)
	l.prefix = machines.LatchLabel
	_, err := c.register(machines.LatchRecipe.Name(), func(id events.ID) receiver {
		l.id = id
		return l
	}, options.open(path, c.config.RideOut))
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Start joins the line. It returns at once; what goes wrong in the background is
// in Err, and an Await returns it. A second call is ErrAlreadyStarted, one after
// Close is ErrClosed.
func (l *Latch) Start() error { return l.start(context.Background()) }

// Await returns when leadership is held. The caller does its work under what is
// returned, and calls its Release when the work is done; several callers may
// hold the same term. Leadership is kept until Resign or Close.
//
// Errors: ErrNotStarted; ErrClosed; the context's cause (with signal.NotifyContext
// since Go 1.26 that names the signal, and is not context.Canceled); or what stands
// in the way (ErrNoAuth, ErrPersistentNode, ErrCounterEnd, …), after which the
// handle goes on trying and Await may be called again.
func (l *Latch) Await(ctx context.Context) (*Leadership, error) { return l.awaitTerm(ctx) }

// Resign gives leadership up and queues again at the tail; it returns when the
// work under it has returned and the old place is gone, by deletion or with the
// session. ErrNotLeading when there is nothing to give up.
func (l *Latch) Resign(ctx context.Context) error { return l.resign(ctx) }

func (l *Latch) notice(n events.Notify) { l.noteTerm(n) }

func (l *Latch) answer(a events.Answer) { l.deliver(a) }

func (l *Latch) entered(state string) { l.enterLine(state) }
