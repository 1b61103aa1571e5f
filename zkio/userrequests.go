package zkio

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
)

// The errors of requests that no machine sends, apart from the context's error and an *Error.
var (
	// ErrNotConnected means that the request was not sent: there is no connection now.
	ErrNotConnected = errors.New("incumbent: not connected: the request was not sent")
	// ErrOtherSession means that the request was not sent: the session that it was meant for is not the live one.
	ErrOtherSession = errors.New("incumbent: another session: the request was not sent")
	// ErrOutcomeUnknown means that the write was sent and no reply came: it may have been
	// carried out.
	ErrOutcomeUnknown = errors.New("incumbent: the outcome is unknown: the write may have been carried out")
)

// Error is a refusal of a request, by the ensemble or by this side before sending.
type Error struct {
	Code events.Code
	Text string // for people; may be empty
	Path string // may be empty
}

func (e *Error) Error() string {
	text := string(e.Code)
	if e.Path != "" {
		text += " " + events.Quote(e.Path, events.MaxText)
	}
	if e.Text != "" {
		text += ": " + events.Foreign(e.Text, events.MaxText)
	}
	return text
}

// Read returns a node's data and stat, from the server that the live session is connected
// to. Any goroutine may call it; it never retries.
//
// Errors: ErrNotConnected, or an *Error (CONNECTIONLOSS if no reply came), or ctx's.
func (a *Adapter) Read(ctx context.Context, path string) ([]byte, events.Stat, error) {
	e, _, err := a.ask(ctx, events.Get{Call: events.Call{Session: a.current()}, Path: path, Data: true})
	if err != nil {
		return nil, events.Stat{}, err
	}
	return e.Data, *e.Stat, nil
}

// List returns the names of a node's children in no order. Any goroutine may
// call it; it never retries. Errors as for Read.
func (a *Adapter) List(ctx context.Context, path string) ([]string, error) {
	e, _, err := a.ask(ctx, events.Children{Call: events.Call{Session: a.current()}, Path: path})
	return e.Children, err
}

// Commit carries out all operations or none, with the access lists of ExecuteWith,
// on the connection of this session only, and
// returns the outcome of each and the transaction's zxid. It is sent at most once. If
// it is committed, the session machine gets connection.confirmed, for all writes within a short time once:
// see events.Confirmations. Any goroutine may call it.
//
// Errors: ErrOtherSession and ErrNotConnected (not sent); *Error (refused: nothing was
// carried out; the results say which operation it was); ErrOutcomeUnknown if the
// connection, or ctx, ended before the reply came, or if the reply does not say whether it was
// carried out (then the *Error has its code); only ctx's if the request was withdrawn
// before it was sent.
func (a *Adapter) Commit(ctx context.Context, session int64, ops []events.Op, lists ...[]ACL,
) ([]OpResult, int64, error) {
	e, kept, err := a.ask(ctx, events.Multi{Call: events.Call{Session: session}, Ops: ops}, lists...)
	if e.Code.Unknown() {
		err = fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
	}
	return kept.Results, e.Zxid, err
}

// Current returns the number of the session opened last; 0 if there is none.
func (a *Adapter) Current() int64 { return a.current() }

// current does what Current does.
func (a *Adapter) current() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.live == nil {
		return 0
	}
	return a.live.number
}

// confirm posts that a write was committed, if no machine has sent it. It is posted in the order of the
// answers, so it is never taken for a confirmation on the next connection. Machines that search hear of nodes that it
// has created. s.mu is held.
func (s *session) confirm(c *call, e events.Event) {
	write, multi := c.request.(events.Multi)
	if c.id == "" && e.Code == events.OK && slices.ContainsFunc(write.Ops, createsEphemeral) {
		s.a.post(events.Searches, events.Event{Kind: events.NodeKept, Session: write.Session, Zxid: e.Zxid})
	}
	if c.id == "" && multi && e.Code == events.OK && s.confirmations.Confirmed(e.SentAt, s.timeout) {
		s.a.post(events.SessionMachine, events.Confirmation(write, e.SentAt, e.Contact, e.Zxid))
	}
}

// createsEphemeral reports whether an operation creates a node that the session owns.
func createsEphemeral(op events.Op) bool {
	return op.Verb == "create" && (op.Mode == events.Ephemeral || op.Mode == events.EphemeralSequential)
}

// outcome is a reply for the goroutine that waits for it.
type outcome struct {
	event events.Event
	kept  Kept
}

// ask sends one request and waits for its reply. If ctx ends after it was sent, the event's
// code is CONNECTIONLOSS: no reply came in time.
func (a *Adapter) ask(ctx context.Context, r events.Request, lists ...[]ACL) (events.Event, Kept, error) {
	if ctx.Err() != nil {
		return events.Event{}, Kept{}, context.Cause(ctx)
	}
	c := a.newCall("", r, lists...)
	replied := make(chan outcome, 1)
	c.onReply = func(e events.Event, kept Kept) { replied <- outcome{e, kept} }
	a.submit(c)
	select {
	case o := <-replied:
		return o.event, o.kept, c.err(o.event)
	case <-ctx.Done():
	}
	if s := a.session(c.session); s != nil && s.withdraw(c) {
		return events.Event{}, Kept{}, context.Cause(ctx)
	}
	select {
	case o := <-replied: // it came in the last moment
		return o.event, o.kept, c.err(o.event)
	default:
		return events.Event{Code: events.ConnectionLoss}, Kept{}, context.Cause(ctx)
	}
}

// err returns the error of a reply, nil for success.
func (c *call) err(e events.Event) error {
	switch {
	case e.Code == events.OK:
		return nil
	case e.Code == events.SessionExpired && e.SentAt == 0:
		return fmt.Errorf("%w (%s)", ErrOtherSession, e.Text)
	case e.Code == events.NotSent && c.refusal == "":
		return fmt.Errorf("%w (%s)", ErrNotConnected, e.Text)
	}
	return &Error{Code: e.Code, Text: e.Text, Path: e.Path}
}

// AccessList returns a node's access list and stat, from the server that the live session is connected to.
// Any goroutine may call it; it never retries. Errors as for Read.
func (a *Adapter) AccessList(ctx context.Context, path string) ([]ACL, *Stat, error) {
	_, kept, err := a.ask(ctx, getACL{Call: events.Call{Session: a.current()}, path: path})
	return kept.acl, kept.Stat, err
}

// SetAccessList replaces a node's access list, if it has this version (-1: any), and returns the node's new stat. It is
// sent at most once. Errors as for Commit.
func (a *Adapter) SetAccessList(ctx context.Context, path string, list []ACL, version int32) (*Stat, error) {
	e, kept, err := a.ask(ctx,
		setACL{Call: events.Call{Session: a.current()}, path: path, list: list, version: version})
	if e.Code.Unknown() {
		err = fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
	}
	return kept.Stat, err
}

// NearestList returns the access list of a node, or of the lowest node above it that exists, with that node's path.
func (a *Adapter) NearestList(ctx context.Context, path string) (of string, list []ACL, err error) {
	for {
		list, _, err := a.AccessList(ctx, path)
		var refused *Error
		if errors.As(err, &refused) && refused.Code == events.NoNode && path != "/" {
			path = path[:max(strings.LastIndexByte(path, '/'), 1)]
			continue
		}
		return path, list, err
	}
}
