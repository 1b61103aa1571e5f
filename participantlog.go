package incumbent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/journal"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
)

// The log's lines about a participant. All but closed have the level that outages gives
// them; those about locks that go as planned are at debug level, because a busy lock has
// thousands. All are written on the loop's goroutine.

// logTerm logs that a term began, or why it ended.
func (p *participant) logTerm(t *heldTerm, lost *LostError) {
	text, level := p.termLine(lost)
	p.client.log.Log(p.client.outages.level(p, level), text, func(e *zerolog.Event) {
		p.identity(e).Str("node", fault.Path(t.Path)).Int64("token", t.Token)
		addSession(e, t.Session, t.zkSession)
		if lost != nil {
			e.Str("reason", string(lost.Reason)).Str("why", lost.why()).Int64("led_ms", lost.Led.Milliseconds())
			addInstant(e, "believed_until", lost.BelievedUntil)
			addPause(e, lost.Paused)
		}
	})
}

// termLine returns the text and the level of the line about a term's beginning or end.
func (p *participant) termLine(lost *LostError) (string, zerolog.Level) {
	switch {
	case lost == nil && !p.holdsOnce():
		return "leading", zerolog.InfoLevel
	case lost == nil:
		return p.what + " held", zerolog.DebugLevel
	case !p.holdsOnce() && lost.Reason.Planned():
		return "no longer leading", zerolog.InfoLevel
	case !p.holdsOnce():
		return "no longer leading", zerolog.WarnLevel
	case lost.Reason.Planned():
		return p.what + " released", zerolog.DebugLevel
	}
	return p.what + " lost", zerolog.WarnLevel
}

// logQueued logs, once for each own node, that others are ahead.
func (p *participant) logQueued(n events.Notify) {
	if n.Path == p.queued {
		return
	}
	p.queued = n.Path
	p.client.observed.emit(Queued{p.place(n.Path, n.Token, n.Session), n.Ahead, n.Behind})
	p.client.log.Log(p.client.outages.level(p, p.plannedLevel()), "queued", func(e *zerolog.Event) {
		p.identity(e).Str("node", fault.Path(n.Path)).Int("ahead", n.Ahead).Str("behind", fault.Path(n.Behind))
	})
}

// logClosed logs that a participant that was started has closed.
func (p *participant) logClosed() {
	err := p.Err()
	p.client.log.Log(p.client.outages.level(p, p.plannedLevel()), "closed",
		func(e *zerolog.Event) { addFailure(p.identity(e), err) })
}

// logLineTrouble logs why the participant cannot lead for now.
func (p *participant) logLineTrouble(err error) {
	p.client.log.Log(p.client.outages.level(p, zerolog.WarnLevel), p.troubleText, func(e *zerolog.Event) {
		if errors.Is(err, ErrNoAuth) {
			e.Str("hint",
				"an access list of the line, or of a node above it, does not admit this client: see Config.ACL")
		}
		addFailure(p.identity(e), err)
	})
}

// plannedLevel is the level of lines about what goes as planned.
func (p *participant) plannedLevel() zerolog.Level {
	if p.holdsOnce() {
		return zerolog.DebugLevel
	}
	return zerolog.InfoLevel
}

// identity adds which participant a line is about.
func (p *participant) identity(e *zerolog.Event) *zerolog.Event {
	return e.Str("path", fault.Path(p.path)).Str("id", fault.Path(p.name))
}

// addSession adds the number of a session and ZooKeeper's id of it, as servers and
// "incumbent status" print it.
func addSession(e *zerolog.Event, number, id int64) {
	e.Int64("session", number)
	if id != 0 {
		e.Str("zk_session", fmt.Sprintf("0x%x", uint64(id)))
	}
}

// addInstant adds a point in time, with milliseconds.
func addInstant(e *zerolog.Event, key string, t time.Time) {
	e.Str(key, t.Format("2006-01-02T15:04:05.000Z07:00"))
}

// addPause adds for how long this process did not run, if that is why.
func addPause(e *zerolog.Event, paused time.Duration) {
	if paused > 0 {
		e.Int64("paused_ms", paused.Milliseconds())
	}
}

// addFailure adds an error and its code; nothing for nil.
func addFailure(e *zerolog.Event, err error) {
	var coded *Error
	if errors.As(err, &coded) {
		e.Str("code", string(coded.Code))
	}
	journal.AddErr(e, err)
}

// maxListRead bounds the read of an access list, for an error.
const maxListRead = 2 * time.Second

// maxEntries is how many entries of an access list an error has, and maxEntry how many bytes of each.
const (
	maxEntries = 8
	maxEntry   = 128
)

// closedLineError is a refusal by an access list, with that list and what to do.
type closedLineError struct {
	refusal error
	text    string
}

func (e *closedLineError) Error() string {
	return events.Foreign(e.refusal.Error()+": "+e.text, fault.MaxText)
}

func (e *closedLineError) Unwrap() error { return e.refusal }

// withList returns the error of a participant that an access list does not admit with that list, if it can be read.
// Other errors are returned as they are.
func (p *participant) withList(ctx context.Context, err error) error {
	if !errors.Is(err, ErrNoAuth) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, maxListRead)
	defer cancel()
	path, list, unread := p.client.nearestList(ctx, p.path)
	admits := fmt.Sprintf("the access list of %s, which may not be read, does not admit this client", fault.Path(path))
	if unread == nil {
		admits = fmt.Sprintf("the access list of %s does not admit this client for this, it has %s", fault.Path(path),
			listText(list))
	}
	return &closedLineError{err, admits + "; an operator has to change it, and every participant has to create with " +
		"a list that has all of them: Config.ACL"}
}

// nearestList returns the access list of a node, or of the lowest node above it that exists.
func (c *Client) nearestList(ctx context.Context, path string) (of string, list []ACL, err error) {
	for {
		entries, err := c.io.AccessList(ctx, path)
		var refused *zkio.Error
		if errors.As(err, &refused) && refused.Code == events.NoNode && path != "/" {
			path = path[:max(strings.LastIndexByte(path, '/'), 1)]
			continue
		}
		for _, entry := range entries {
			list = append(list, ACL(entry))
		}
		return path, list, err
	}
}

// listText returns an access list as --acl takes it, but without the digests of passwords.
func listText(list []ACL) string {
	var parts []string
	for i, entry := range list {
		if i == maxEntries {
			parts = append(parts, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		id := entry.ID
		if entry.Scheme == "digest" {
			user, _, _ := strings.Cut(id, ":")
			id = user + ":…"
		}
		if len(id) > maxEntry {
			id = strings.ToValidUTF8(id[:maxEntry], "") + "…"
		}
		perms := ""
		for at, letter := range "rwcda" {
			if entry.Perms&(1<<at) != 0 {
				perms += string(letter)
			}
		}
		parts = append(parts, events.Foreign(entry.Scheme+":"+id, events.MaxText)+":"+perms)
	}
	return strings.Join(parts, ", ")
}

// passedOver has what the log says once of children that a line passes over. Only the loop uses it.
type passedOver map[string]bool // by directory and kind of name

// maxPassedOver is how many lines the log has about such children, and maxPassedOverName how many bytes of a name they
// have.
const (
	maxPassedOver     = 1000
	maxPassedOverName = 128
)

// logPassedOver logs children that a line passes over, once for each directory and kind of name: in somebody else's
// layout they may be in that line. Places of plain elections with these prefixes are not logged. On the loop's
// goroutine.
func (c *Client) logPassedOver(n events.Notify, prefixes ...string) {
	for _, name := range n.Names {
		if _, known := machines.ParsePlace(name, prefixes...); known {
			continue
		}
		kind := n.Path + "/" + machines.NameKind(name)
		if c.passedOver[kind] || len(c.passedOver) >= maxPassedOver {
			continue
		}
		if c.passedOver == nil {
			c.passedOver = passedOver{}
		}
		c.passedOver[strings.Clone(kind)] = true
		level, hint := zerolog.InfoLevel, ""
		if mayQueue(name) {
			level, hint = zerolog.WarnLevel, passedOverHint
		}
		c.log.Log(level, "passed over", func(e *zerolog.Event) {
			e.Str("path", fault.Path(n.Path)).Str("child", events.Foreign(name, maxPassedOverName))
			if hint != "" {
				e.Str("hint", hint)
			}
		})
	}
}

// passedOverHint says what a sequential node that is passed over may mean.
const passedOverHint = "if this is a participant of the same election or lock, it and this client do not wait for " +
	"each other: all have to use one kind of name (the recipe, Prefix, Plain and Kazoo decide)"

// mayQueue reports whether a name may be that of a participant in the line, in a layout that this client does not know
// or does not use. Latches and permits are in lines of their own.
func mayQueue(name string) bool {
	_, _, sequential := machines.CutNumber(name)
	_, ofOther := machines.ParsePlace(name, machines.LatchLabel, machines.LeaseLabel)
	return sequential && !ofOther
}

// logOpened logs the notices of machines that others have opened, which have no handle: that a node of an attempt that
// was given up is deleted, and what a line passes over.
func (c *Client) logOpened(n events.Notify) {
	switch n.What {
	case events.Warning:
		c.log.Log(zerolog.WarnLevel, n.Text, func(e *zerolog.Event) { e.Str("path", fault.Path(n.Path)) })
	case events.PassedOver:
		c.logPassedOver(n)
	}
}

// place returns what events say of the participant.
func (p *participant) place(node string, token, session int64) Place {
	return Place{Path: p.path, Recipe: p.recipe(), ID: p.name, Node: node, Token: token,
		Session: session, SessionID: p.client.attachment(session).id}
}

// observeBegin reports that a term began.
func (p *participant) observeBegin(t *heldTerm) {
	began := TermBegan{Place: t.place()}
	if p.waits.since != 0 {
		began.Waited = time.Duration(t.began - p.waits.since)
	}
	if p.waits.vacated != 0 {
		began.Takeover = time.Duration(t.began - p.waits.vacated)
		p.client.meters.tookOver(p.recipe(), began.Takeover)
	}
	p.waits = waits{}
	p.client.observed.emit(began)
}

// waits has when a participant's wait began, by the loop's clock, which alone uses it.
type waits struct {
	since   int64 // when the own node was asked for
	vacated int64 // when the node ahead was seen to be deleted; 0: it was not
}
