package incumbent

import (
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/journal"
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
			e.Str("hint", "an access list of the line, or of a node above it, does not admit this client: see Config.ACL")
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
