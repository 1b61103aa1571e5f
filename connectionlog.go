package incumbent

import (
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/zkio"
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
	l.client.log.Log(level, "connection", func(e *zerolog.Event) {
		addSession(e.Str("state", string(state)), n.Session, a.id)
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
		l.client.outages.reconnected()
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
	addPause(e, n.Paused)
}
