package incumbent

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/zkio"
)

const (
	maxOutageLines = 20 // more participants than this share two lines about an outage
	maxOutagePaths = 5  // that the second line names
)

// outages finds out which participants of a client an outage affects: a lost connection, a
// session that is over, a deadline that passed for all. It decides how the log has that. If
// more than maxOutageLines are affected, their own lines are at debug level, and one line
// says that the outage began and one that it is over. Participants call it on the loop's
// goroutine, and so does the connection; its timer does not. It never blocks.
type outages struct {
	client *Client

	mu      sync.Mutex
	members map[*participant]bool // all that have started and not closed
	present *outageNow            // nil: there is no outage
}

// outageNow is one outage.
type outageNow struct {
	affected  map[*participant]string // the last state of each
	unsettled int                     // those that do not lead, and are not in line or closed
	away      bool                    // there is no connection
	led       bool                    // a participant led when it was affected
	since     int64                   // the loop's clock
	logged    bool                    // the first line was written
	limit     *time.Timer             // when the wait for those that are not settled ends
}

// settled has the states after which an outage affects a participant no longer.
var settled = map[string]string{
	"leading": "leading",
	"waiting": "queued", "queueing": "queued", "standby": "queued", "full": "queued",
	"closed": "ended", "idle": "ended",
}

// entered takes a participant's new state.
func (o *outages) entered(p *participant, state string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case state == "closed":
		delete(o.members, p)
	case state != "latent" && !o.members[p]:
		if o.members == nil {
			o.members = map[*participant]bool{}
		}
		o.members[p] = true
	}
	if now := o.present; now != nil {
		if before, affected := now.affected[p]; affected {
			now.set(p, before, state)
			o.endIfSettled()
		}
	}
}

// disconnected begins an outage that affects all participants, or goes on with it. It
// reports whether any of them led when the outage began.
func (o *outages) disconnected() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.present == nil {
		o.begin()
	}
	o.present.stop()
	o.present.away = true
	for p := range o.members {
		o.present.add(p)
	}
	return o.present.led
}

// reconnected notes that there is a connection again. What is not settled within a session
// timeout from now is reported as it is then.
func (o *outages) reconnected() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.present == nil {
		return
	}
	o.present.away = false
	o.wait()
	o.endIfSettled()
}

// ended takes the end of a term, which is over only after this call. If it is one that ends
// all terms of the client, an outage begins, unless there is one.
func (o *outages) ended(lost *LostError) {
	switch lost.Reason {
	case ReasonSuspended, ReasonSessionOver, ReasonUnconfirmed, ReasonOwnPause:
	default:
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.present == nil {
		o.begin()
		for p := range o.members {
			if p.leads() {
				o.present.add(p)
			}
		}
		o.wait()
	}
	o.logBegin(lost)
}

// level returns the level of a participant's line: lower if two lines about the outage
// replace it.
func (o *outages) level(p *participant, level zerolog.Level) zerolog.Level {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.present == nil || len(o.present.affected) <= maxOutageLines {
		return level
	}
	if _, affected := o.present.affected[p]; !affected {
		return level
	}
	o.logBegin(nil)
	return zerolog.DebugLevel
}

// close ends the wait of an outage: nothing is logged after the client's end.
func (o *outages) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.present != nil {
		o.present.stop()
		o.present = nil
	}
}

// The caller of the methods below holds the lock.

func (o *outages) begin() {
	o.present = &outageNow{affected: map[*participant]string{}, since: o.client.clock.Now()}
}

// wait sets the time when the outage is reported as over although some are not settled.
func (o *outages) wait() {
	now := o.present
	now.stop()
	now.limit = time.AfterFunc(o.client.timeout(), func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.present == now && !now.away {
			o.end()
		}
	})
}

// endIfSettled ends the outage if it affects nobody any longer. Without a connection, that is when
// all have closed.
func (o *outages) endIfSettled() {
	if o.present.unsettled == 0 && (!o.present.away || len(o.members) == 0) {
		o.end()
	}
}

func (o *outages) end() {
	o.present.stop()
	if o.present.logged {
		o.logEnd()
	}
	o.present = nil
}

// logBegin writes the first of the two lines, once. Lost is the first term that ended; nil
// if none has.
func (o *outages) logBegin(lost *LostError) {
	now := o.present
	if now.logged || len(now.affected) <= maxOutageLines {
		return
	}
	now.logged = true
	led := 0
	for p := range now.affected {
		if p.leads() {
			led++
		}
	}
	participants := len(now.affected)
	o.client.log.Log(zerolog.WarnLevel, "outage", func(e *zerolog.Event) {
		e.Int("participants", participants).Int("led", led)
		if lost != nil {
			e.Str("reason", string(lost.Reason)).Str("why", lost.why())
			addInstant(e, "believed_until", lost.BelievedUntil)
			addPause(e, lost.Paused)
		}
	})
}

// logEnd writes the second of the two lines.
func (o *outages) logEnd() {
	now := o.present
	counts, paths := map[string]int{}, []string{}
	for p, state := range now.affected {
		counts[settled[state]]++
		if settled[state] == "" {
			paths = append(paths, p.path)
		}
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	paths = paths[:min(len(paths), maxOutagePaths)]
	level := zerolog.InfoLevel
	if now.unsettled > 0 {
		level = zerolog.WarnLevel
	}
	took := time.Duration(o.client.clock.Now() - now.since)
	participants, unsettled := len(now.affected), now.unsettled
	o.client.log.Log(level, "outage over", func(e *zerolog.Event) {
		e.Int("participants", participants).Int("leading", counts["leading"]).Int("queued", counts["queued"]).
			Int("ended", counts["ended"]).Int("unsettled", unsettled).Int64("outage_ms", took.Milliseconds())
		if unsettled > 0 {
			e.Strs("paths", paths)
		}
	})
}

// add makes the outage affect a participant, as it is now.
func (n *outageNow) add(p *participant) {
	if _, affected := n.affected[p]; affected {
		return
	}
	n.led = n.led || p.leads()
	n.affected[p] = "leading" // settled
	n.set(p, "leading", p.Phase())
}

// set notes a participant's new state.
func (n *outageNow) set(p *participant, before, state string) {
	if settled[before] == "" {
		n.unsettled--
	}
	if settled[state] == "" {
		n.unsettled++
	}
	n.affected[p] = state
}

// stop stops the timer.
func (n *outageNow) stop() {
	if n.limit != nil {
		n.limit.Stop()
	}
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
