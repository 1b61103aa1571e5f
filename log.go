package incumbent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/journal"
	"github.com/incumbent-go/incumbent/zkio"
)

// The log's lines about a participant. All but closed have the level that outages gives
// them; those about locks that go as planned are at debug level, because a busy lock has
// thousands. All are written on the loop's goroutine.

// logTerm logs that a term began, or why it ended.
func (p *participant) logTerm(t *heldTerm, lost *LostError) {
	text, level := p.termLine(lost)
	p.client.log.Log(p.client.outages.Level(p, level), text, func(e *zerolog.Event) {
		p.identity(e).Str("node", fault.Path(t.Path)).Int64("token", t.Token)
		journal.AddSession(e, t.Session, t.zkSession)
		if lost != nil {
			e.Str("reason", string(lost.Reason)).Str("why", lost.why()).Int64("led_ms", lost.Led.Milliseconds())
			journal.AddInstant(e, "believed_until", lost.BelievedUntil)
			journal.AddPause(e, lost.Paused)
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
	p.client.log.Log(p.client.outages.Level(p, p.plannedLevel()), "queued", func(e *zerolog.Event) {
		p.identity(e).Str("node", fault.Path(n.Path)).Int("ahead", n.Ahead).Str("behind", fault.Path(n.Behind))
	})
}

// logClosed logs that a participant that was started has closed.
func (p *participant) logClosed() {
	err := p.Err()
	p.client.log.Log(p.client.outages.Level(p, p.plannedLevel()), "closed",
		func(e *zerolog.Event) { addFailure(p.identity(e), err) })
}

// logLineTrouble logs why the participant cannot lead for now.
func (p *participant) logLineTrouble(err error) {
	p.client.log.Log(p.client.outages.Level(p, zerolog.WarnLevel), p.troubleText, func(e *zerolog.Event) {
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

// logOpened logs the notices of machines that others have opened, which have no handle: that a node of an attempt that
// was given up is deleted, and what a line passes over.
func (c *Client) logOpened(n events.Notify) {
	switch n.What {
	case events.Warning:
		c.log.Log(zerolog.WarnLevel, n.Text, func(e *zerolog.Event) { e.Str("path", fault.Path(n.Path)) })
	case events.PassedOver:
		c.passedOver.Log(c.log, n)
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
		p.client.meters.TookOver(p.recipe(), began.Takeover)
	}
	p.waits = waits{}
	p.client.observed.emit(began)
}

// waits has when a participant's wait began, by the loop's clock, which alone uses it.
type waits struct {
	since   int64 // when the own node was asked for
	vacated int64 // when the node ahead was seen to be deleted; 0: it was not
}

// connectionLog writes the log's lines about the connection. The loop calls it.
type connectionLog struct {
	client *Client
	away   bool  // since the last SUSPENDED or LOST
	since  int64 // when the outage began, by the loop's clock
	led    bool  // the client led when it began

	before ConnectionState // "": Connecting
	at     int64           // when it began, by the loop's clock; 0: when the client was opened
}

// changed logs a new state of the connection, and lets the outage begin or end.
func (l *connectionLog) changed(state ConnectionState, n events.Notify) {
	now, up := l.client.clock.Now(), state == Connected || state == Reconnected
	if !up {
		if !l.away {
			l.away, l.since, l.led = true, now, false
		}
		l.led = l.client.outages.Disconnected() || l.led
	}
	l.observe(state, n, now)
	level := zerolog.InfoLevel
	switch {
	case state == Lost && l.led:
		level = zerolog.ErrorLevel
	case !up:
		level = zerolog.WarnLevel
	}
	wasAway, since, a := l.away, l.since, l.client.attachment(n.Session)
	l.client.log.Log(level, "connection", func(e *zerolog.Event) {
		journal.AddSession(e.Str("state", string(state)), n.Session, a.id)
		if !up {
			addCause(e, n)
			return
		}
		e.Str("server", fault.Path(n.Text)).Int64("granted_ms", a.granted.Milliseconds())
		if wasAway {
			e.Int64("away_ms", time.Duration(now-since).Milliseconds())
		}
	})
	if up {
		l.client.certificate.check(certificatePause)
		l.away = false
		l.client.outages.Reconnected()
	}
}

// failed logs why an attempt to connect failed, or that the session timeout that was granted
// is too short.
func (l *connectionLog) failed(n events.Notify, err error) {
	if n.Code == events.TimeoutTooShort {
		granted := l.client.timeout() // as the notice
		l.client.log.Log(zerolog.WarnLevel, "not safe to lead", func(e *zerolog.Event) {
			addFailure(e.Int64("granted_ms", granted.Milliseconds()), err)
		})
		return
	}
	l.client.log.Log(zerolog.WarnLevel, "not connected", func(e *zerolog.Event) { addCause(e, n) })
}

// unreachedAfter is how long a client may have reached no server before the log says so.
const unreachedAfter = 2 * time.Second

// warnUnreached logs that no server has been reached yet, with the last failure of each address. A server that neither
// answers nor refuses is in no other line.
func (h *sessionHandle) warnUnreached() {
	h.mu.Lock()
	reached, failures := h.state != Connecting, append(slices.Clone(h.others), connectErrorText(h.why))
	h.mu.Unlock()
	if reached || h.client.isClosed() {
		return
	}
	servers, _, _ := zkio.ParseServers(h.client.config.Servers) // Open has parsed them
	h.client.log.Log(zerolog.WarnLevel, "no server is reached yet", func(e *zerolog.Event) {
		e.Int64("after_ms", unreachedAfter.Milliseconds())
		e.Str("why", events.Foreign(reasonOfEach(servers, failures), events.MaxText))
	})
}

// reasonOfEach returns in one sentence the failures of each server, and which server no failure is known of. Failures
// begin with the name of their server, or are those of all servers.
func reasonOfEach(servers, failures []string) string {
	var reasons []string
	for _, failure := range failures {
		if failure != "" {
			reasons = append(reasons, failure)
		}
	}
	for _, server := range servers {
		if !slices.ContainsFunc(failures, func(f string) bool { return strings.HasPrefix(f, server+": ") }) {
			reasons = append(reasons, server+": no answer is known yet")
		}
	}
	return strings.Join(reasons, "; ")
}

// addCause adds a notice's code, if it has one, and its sentence.
func addCause(e *zerolog.Event, n events.Notify) {
	if n.Code != "" {
		e.Str("code", string(n.Code))
	}
	e.Str("why", fault.Path(n.Text))
	journal.AddPause(e, n.Paused)
}

// observe reports a new state of the connection.
func (l *connectionLog) observe(state ConnectionState, n events.Notify, now int64) {
	a, up := l.client.attachment(n.Session), state == Connected || state == Reconnected
	changed := ConnectionChanged{From: l.before, To: state, Session: n.Session, SessionID: a.id, Paused: n.Paused}
	if l.before == "" {
		changed.From = Connecting
	}
	if l.at != 0 {
		changed.For = time.Duration(now - l.at)
	}
	if up {
		changed.Server, changed.Granted = n.Text, a.granted
	} else {
		changed.Err = asError(n.Code, n.Text)
	}
	l.before, l.at = state, now
	l.client.observed.emit(changed)
}
