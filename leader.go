package incumbent

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/arguments"
	"github.com/incumbent-go/incumbent/internal/async"
	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/internal/clock"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
)

// Leader is who leads a path, and where it answers, as WatchLeader yields it.
type Leader struct {
	// Change is that of the line in the directory, or of all lines if they are vacant. It is zero if Unknown, and if
	// several lines have a first each or the path is the node of a NodeElection, which Err says.
	Change
	// Address is where Change.First answers, by LatchOptions.Advertise: HostPort returns what to dial. It is empty if
	// that participant advertises nothing, if nobody is first, and where Err is set and Unconfirmed is not. It is
	// foreign text: compare it with a list, or see by its access list that only your own programs may write to the
	// line, before you connect to it.
	Address string
	// Err says why the address is not known or is none, that there are several lines, or why the rest is Unconfirmed.
	Err error
	// Unconfirmed is since when there has been no connection, or since when a line could not be read: the rest is as
	// it was then. Zero while the ensemble answers.
	Unconfirmed time.Time
	// Unknown says that nothing is known of the path: it has been Unconfirmed for a session timeout, or the session has
	// ended, or the first attempt to read it has failed.
	Unknown bool
}

// WatchLeader is Watch for a program that sends requests to the leader. Each value is all that is known of a path: who
// leads, or will soon, and where it answers. When the connection ends, or a line cannot be read, that comes again with
// Unconfirmed, and a session timeout later a Leader with Unknown: drop the address then at the latest. When the
// ensemble answers again, what is so then comes. A slow reader misses values in between, and gets the newest. Send
// First.Token with each request: then who gets it can refuse it if it does not lead under that token any more.
//
// An error comes only if the feed cannot begin, and is its end: what is wrong with the path, or ErrClosed. An address
// costs one read at each change. That somebody has deleted an address alone is not noticed.
func (c *Client) WatchLeader(ctx context.Context, path string, prefixes ...string) iter.Seq2[Leader, error] {
	c.check(ctx)
	return func(yield func(Leader, error) bool) {
		l := &leaderFeed{client: c, ctx: ctx, path: path, prefixes: prefixes}
		for news, err := range stream(ctx, c, l.begin) {
			if err != nil {
				yield(Leader{}, err)
				return
			}
			if next, isNew := l.after(news); isNew && !yield(next, nil) {
				return
			}
		}
	}
}

// leaderFeed is what one loop over WatchLeader knows.
type leaderFeed struct {
	client   *Client
	ctx      context.Context
	path     string
	prefixes []string
	feed     *feed[leaderNews]
	lines    []*lineSeen

	has    bool      // known is the last that was confirmed
	known  Leader    // zero without it
	since  time.Time // since when nothing is confirmed; zero: it is
	why    error     // why that is so, as far as is known
	timer  *time.Timer
	begun  bool   // something was yielded
	before Leader // what was yielded last
}

// lineSeen is what is known of one line in the directory.
type lineSeen struct {
	change  Change // of Recipe "" if it is vacant
	current bool   // it was read on this connection
	failure error  // why it cannot be read; nil: it can
}

// leaderNews is what is new of a line, or of the connection if there is none.
type leaderNews struct {
	line    *lineSeen
	change  *Change // nil: as it was
	failure error
	overdue time.Time // nothing has been confirmed for a session timeout, since then
}

// begin starts watching the lines, the connection and the time.
func (l *leaderFeed) begin(f *feed[leaderNews]) error {
	l.feed = f
	f.Merge = func(unread, next leaderNews) (leaderNews, async.MergePlace) {
		if next.line == nil || next.change != nil {
			return next, async.AtEnd
		}
		unread.failure = next.failure
		return unread, async.InPlace // before the end of a connection that came between them
	}
	l.suspect(nil)
	f.onClose = append(f.onClose, func() { l.timer.Stop() }, l.client.OnConnection(func(state ConnectionState) {
		if state == Suspended || state == Lost {
			f.Put(feedItem[leaderNews]{Key: "connection"})
		}
	}))
	seen := map[machines.LineKind]*lineSeen{}
	for _, kind := range machines.Lines(l.prefixes...) {
		seen[kind] = &lineSeen{}
		l.lines = append(l.lines, seen[kind])
	}
	return watchLines(f, l.path, l.prefixes, func(kind machines.LineKind, n events.Notify) {
		news := leaderNews{line: seen[kind]}
		switch n.What {
		case events.Leader:
			change := leaderChange(kind, n)
			news.change = &change
		case events.Vacant:
			news.change = &Change{}
		case events.Failed:
			news.failure = asError(n.Code, n.Text)
		case events.PassedOver:
			l.client.passedOver.Log(l.client.core.Log, n, l.prefixes...)
			return
		}
		f.Put(feedItem[leaderNews]{Key: kind.Recipe + " " + kind.Label, Value: news})
	})
}

// after returns what is to be yielded after news, if that is another value than before.
func (l *leaderFeed) after(news leaderNews) (next Leader, isNew bool) {
	over := !news.overdue.IsZero() && news.overdue.Equal(l.since)
	switch state := l.client.Connection(); {
	case news.line != nil:
		news.line.failure = news.failure
		if news.change != nil {
			news.line.change, news.line.current = *news.change, true
		}
	case state == Suspended || state == Lost: // otherwise what is so now has come, or comes
		for _, line := range l.lines {
			line.current = false
		}
		over = over || state == Lost
		l.suspect(l.client.Err())
	}
	next, known := l.answer(over)
	if !known || l.begun && sameLeader(next, l.before) {
		return Leader{}, false
	}
	l.begun, l.before = true, next
	return next, true
}

// suspect notes since when nothing is confirmed, and why.
func (l *leaderFeed) suspect(why error) {
	l.why = cmp.Or(why, l.why)
	if l.since.IsZero() {
		since := clock.Wall(0)
		l.since = since
		l.timer = time.AfterFunc(l.client.core.Timeout(), func() {
			l.feed.Put(feedItem[leaderNews]{Key: "time", Value: leaderNews{overdue: since}})
		})
	}
}

// answer returns what is known now. It returns false if that comes later.
func (l *leaderFeed) answer(over bool) (Leader, bool) {
	current := true
	for _, line := range l.lines {
		current = current && line.current && line.failure == nil
		if line.failure != nil {
			l.suspect(line.failure)
			over = over || !l.has
		}
	}
	switch {
	case current:
		return l.confirmed()
	case over:
		l.has, l.known = false, Leader{Unknown: true}
	case !l.has && !l.known.Unknown:
		return Leader{}, false
	}
	next := l.known
	next.Unconfirmed, next.Err = l.since, cmp.Or(l.why, l.client.Err())
	return next, true
}

// confirmed returns who leads now, with the address. It returns false if the connection has ended meanwhile.
func (l *leaderFeed) confirmed() (Leader, bool) {
	next := Leader{Change: Change{Recipe: l.known.Recipe, Prefix: l.known.Prefix, Vacant: true}}
	firsts := []string{}
	for _, line := range l.lines {
		switch is := line.change; {
		case is.First.First:
			firsts = append(firsts, is.Recipe+" "+events.Quote(is.Prefix, events.MaxName))
			next.Change = is
		case is.Blocker.Path != "" && next.Vacant:
			next.Change = is
		}
	}
	if len(firsts) > 1 {
		next = Leader{Err: fmt.Errorf("incumbent: %s has several lines, with a first each (%s): want a path of one",
			fault.Path(l.path), strings.Join(firsts, ", "))}
	}
	unanswered := false
	read := func(path string) ([]byte, events.Stat, error) {
		data, stat, err := l.client.core.IO.Read(l.ctx, path)
		unanswered = unansweredRead(err)
		return data, stat, l.client.core.Explain(l.ctx, "read", path, err, l.client.core.NoReply)
	}
	if next.First.First {
		next.Address, next.Err = l.client.addressOf(next.First, read)
	}
	if next.Vacant && next.Blocker.Path == "" {
		if _, stat, err := read(l.path); err == nil && stat.Ephemeral() {
			next = Leader{Err: fmt.Errorf("incumbent: %s is an ephemeral node, as of an election on one node, which "+
				"has no line: NodeElection.Holder and WatchNode show who has it", fault.Path(l.path))}
		}
	}
	if unanswered || l.ctx.Err() != nil {
		return Leader{}, false
	}
	l.timer.Stop()
	l.has, l.known, l.since, l.why = true, next, time.Time{}, nil
	return next, true
}

// sameLeader reports whether two values say the same. What is unknown stays so, whatever else fails meanwhile.
func sameLeader(a, b Leader) bool {
	if a.Unknown && b.Unknown {
		return true
	}
	text := func(err error) string {
		if err == nil {
			return ""
		}
		return err.Error()
	}
	return a.Change == b.Change && a.Address == b.Address && a.Unconfirmed.Equal(b.Unconfirmed) &&
		a.Unknown == b.Unknown && text(a.Err) == text(b.Err)
}

// Address returns where a participant answers, as its LatchOptions.Advertise says; "" if it advertises nothing, or is
// in line no longer. Pass a participant that Line, Participants or Watch returned. It is foreign text of up to 1024
// bytes without spaces and control characters: compare it with a list, or see by its access list that only your own
// programs may write to the line, before you connect to it.
//
// Without a connection it waits for one, as Get does. Errors: that the node has no address in it, ErrClosed, the
// context's, or an *Error.
func (c *Client) Address(ctx context.Context, p Participant) (string, error) {
	c.check(ctx)
	return c.addressOf(p, func(path string) ([]byte, events.Stat, error) { return c.read(ctx, path) })
}

// addressOf reads the node with a participant's address. One that another session owns is not the participant's.
func (c *Client) addressOf(p Participant, read func(path string) ([]byte, events.Stat, error)) (string, error) {
	if p.Path == "" || p.Owner == 0 {
		return "", nil
	}
	path := machines.AddressPath(p.Path, p.Prefix, p.Owner)
	data, stat, err := read(path)
	refused := refusal(err)
	switch {
	case refused != nil && refused.Code == events.NoNode, err == nil && stat.EphemeralOwner != p.Owner:
		return "", nil
	case err != nil:
		return "", err
	}
	if err := arguments.CheckAddress("the address in "+fault.Path(path), string(data)); err != nil {
		return "", err
	}
	return string(data), nil
}

// HostPort returns what to dial for an address, as HOST:PORT: the address has this form, or is a URL such as
// https://host-a. A URL has a port, unless it is of http or https, and no user; its path is left out. A host is an IP
// address, but not that of a listener on all, or a name of ASCII letters, digits, dots, dashes and underscores. The
// error says what is wrong. LatchOptions.Advertise takes such addresses, and Client.Address and Client.WatchLeader
// return them.
func HostPort(address string) (string, error) { return arguments.HostPort("the address", address) }

// feed passes what is seen to one reader, the newest of each key.
type feed[T any] struct {
	async.Newest[T]
	client  *Client
	onClose []func() // called when the loop over the feed ends
}

type feedItem[T any] = async.Item[T]

// errorKey is the key of errors.
const errorKey = "error"

func newFeed[T any](c *Client) *feed[T] {
	f := &feed[T]{Newest: async.NewNewest[T](), client: c}
	f.Closed, f.Check = c.core.Closed, c.core.Invariants.Feeds
	return f
}

// stream returns a feed as an iterator. When a loop over it begins, look opens the machines
// for it. They are closed when the loop ends, or immediately if look fails.
func stream[T any](ctx context.Context, c *Client, look func(*feed[T]) error) iter.Seq2[T, error] {
	c.check(ctx)
	return func(yield func(T, error) bool) {
		f := newFeed[T](c)
		defer f.close()
		if err := look(f); err != nil {
			var none T
			yield(none, err)
			return
		}
		for {
			s, ok := f.Next(ctx)
			if !ok || !yield(s.Value, s.Err) {
				return
			}
		}
	}
}

// watch opens a machine that watches, and starts it, without waiting for it. The machine's
// notices go to tell, on the loop's goroutine. The error is ErrClosed.
func (f *feed[T]) watch(recipe engine.Recipe, open events.Event, tell func(events.Notify, zkio.Kept)) error {
	o := &watchHandle{}
	return f.open(o, recipe, open, func(n events.Notify) {
		if n.What == events.Failed {
			f.fail(n)
			return
		}
		tell(n, o.takeKept(n.Work))
	})
}

// fail puts a machine's failure, which the loop gets as an error.
func (f *feed[T]) fail(n events.Notify) {
	f.Put(feedItem[T]{Key: errorKey, Err: asError(n.Code, n.Text)})
}

// open is watch with a handle. All notices go to notice, failures included.
func (f *feed[T]) open(o *watchHandle, recipe engine.Recipe, open events.Event, notice func(events.Notify)) error {
	o.onNotice = notice
	o.init(f.client, open.Path)
	_, err := f.client.register(recipe, func(id events.ID) receiver {
		o.base.Machine = id
		return o
	}, open)
	if err != nil {
		return calls.AsError("watch", open.Path, err)
	}
	f.onClose = append(f.onClose, func() { o.base.Post(events.Event{Kind: events.CommandClose}) })
	o.base.Post(events.Event{Kind: events.CommandStart})
	return nil
}

func (f *feed[T]) close() {
	for _, leave := range f.onClose {
		leave()
	}
}
