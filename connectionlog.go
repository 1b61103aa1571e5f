package incumbent

import (
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
)

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
		l.led = l.client.outages.disconnected() || l.led
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
	l.client.log.log(level, "connection", func(e *zerolog.Event) {
		addSession(e.Str("state", string(state)), n.Session, a.id)
		if !up {
			addCause(e, n)
			return
		}
		e.Str("server", shownPath(n.Text)).Int64("granted_ms", a.granted.Milliseconds())
		if wasAway {
			e.Int64("away_ms", time.Duration(now-since).Milliseconds())
		}
	})
	if up {
		l.client.certificate.check(certificatePause)
		l.away = false
		l.client.outages.reconnected()
	}
}

// failed logs why an attempt to connect failed, or that the session timeout that was granted
// is too short.
func (l *connectionLog) failed(n events.Notify, err error) {
	if n.Code == events.TimeoutTooShort {
		granted := l.client.timeout() // as the notice
		l.client.log.log(zerolog.WarnLevel, "not safe to lead", func(e *zerolog.Event) {
			addFailure(e.Int64("granted_ms", granted.Milliseconds()), err)
		})
		return
	}
	l.client.log.log(zerolog.WarnLevel, "not connected", func(e *zerolog.Event) { addCause(e, n) })
}

// addCause adds a notice's code, if it has one, and its sentence.
func addCause(e *zerolog.Event, n events.Notify) {
	if n.Code != "" {
		e.Str("code", string(n.Code))
	}
	e.Str("why", shownPath(n.Text))
	addPause(e, n.Paused)
}
