package zkio

import (
	"context"
	"errors"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// close asks the ensemble to end the session, and posts connection.closed when the reply is
// here or cannot come any longer.
func (s *session) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.over:
		s.postEvent(events.Event{Kind: events.ConnectionClosed, Code: events.SessionExpired,
			Text: "the session had ended already"})
	case s.closing:
	case s.wire == nil:
		s.closed(events.ConnectionLoss, s.abandonedText("not connected"))
	default:
		s.closing = true
		s.failWaiting("the session is being closed")
		w := s.wire
		s.watchdog.Stop()
		s.watchdog = time.AfterFunc(s.a.cfg.Handshake, func() {
			w.fail(refusal{events.ConnectionLoss, "no answer to the close request"})
		})
		s.quit()
	}
}

// closed posts the outcome of the close and ends the session.
func (s *session) closed(code events.Code, text string) {
	if s.wire != nil && len(s.pending) > 0 {
		s.detach(events.ConnectionEndSession, "the session was closed")
	}
	s.wire = nil
	s.postEvent(events.Event{Kind: events.ConnectionClosed, Code: code, Text: text})
	s.shut()
}

// abandonedText says what happens to a session that could not be closed.
func (s *session) abandonedText(why string) string {
	return "abandoned (" + why + "): the ensemble ends it by itself, normally within " + s.timeout.String() +
		" and a tick of the last contact"
}

// abandon ends the session on this side without a request to the ensemble.
func (s *session) abandon(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	if s.wire != nil {
		s.detach(events.ConnectionEndSession, why)
	}
	if s.closing {
		s.postEvent(events.Event{Kind: events.ConnectionClosed, Code: events.ConnectionLoss,
			Text: s.abandonedText(why)})
	}
	s.shut()
}

// leaveServer ends the connection to a server that goes on to answer with this code. The session goes on at the next
// server; this one comes last in the round that begins.
func (s *session) leaveServer(code events.Code) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wire != nil && !s.closing {
		s.wire.fail(refusal{code, "left: it goes on to answer with " + string(code) + ", and another server may not"})
	}
}

// lose ends the session and posts that it is lost. It returns the error for the wire that
// detected it.
func (s *session) lose(why string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost(events.SessionExpired, why, 0)
	return errOver
}

// lost ends the session, and posts that it is lost and which pause explains that. s.mu is
// held.
func (s *session) lost(code events.Code, why string, paused time.Duration) {
	if s.over {
		return
	}
	if s.wire != nil {
		s.detach(events.ConnectionEndSession, why)
	}
	if s.closing {
		s.postEvent(events.Event{Kind: events.ConnectionClosed, Code: code, Text: why})
	} else {
		s.postEvent(events.Event{Kind: events.ConnectionLost, Code: code, Text: why, Paused: int64(paused)})
	}
	s.shut()
}

// shut ends everything: first the context of dial, then the socket, then the keeper.
func (s *session) shut() {
	s.over = true
	s.cancel()
	s.watchdog.Stop()
	if s.dialled != nil {
		_ = s.dialled.Conn.Close()
	}
	s.quit()
}

// quit closes the keeper and waits until its goroutines have ended. It does so in a goroutine
// of its own, because a dial or a write may go on for a while.
func (s *session) quit() {
	if s.quitting {
		return
	}
	s.quitting = true
	go func() {
		defer s.a.work.Done()
		s.keeper.close()
		<-s.keeper.gone
	}()
}

// watchdogTimeout is how long the keeper may take from one step to the next: from the end
// of a connection to the dial, and from the dial to the end of the handshake.
func (s *session) watchdogTimeout() time.Duration {
	return s.a.cfg.Backoff + 2*s.a.cfg.Handshake + 5*time.Second
}

// watchdogFired is called when the watchdog fires: the keeper has stopped somewhere and will
// not dial again.
func (s *session) watchdogFired() {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stalled != nil || s.watchdogPaused(): // it waits for the loop, or could not run
		s.restartWatchdog()
	case s.wire == nil:
		s.lost(events.ConnectionLoss, "the client library got stuck while connecting: the session was abandoned", 0)
	}
}

// refuse reports an attempt that failed. Refused credentials end the session, unless another server may still serve it.
func (s *session) refuse(w *wire, why error) {
	server := w.server
	code := events.ConnectionLoss
	var known refusal
	if errors.As(why, &known) {
		code = known.code
	}
	text, end, paused := why.Error(), endOf(why), s.attemptPaused(why, w)
	if paused != 0 {
		end = events.ConnectionEndOwnPause
		text = events.PauseText(paused) + " while it connected to " + server
	}
	// race has noted what could not be dialled
	if end == events.ConnectionEndSilent && (w.Conn != nil || s.a.cfg.Dial != nil) {
		s.a.hosts.silent(w.target, w.address, s.a.cfg.Now())
	}
	over := code == events.AuthFailed && !s.mayLive()
	if code == events.AuthFailed && !over {
		code = events.ConnectionLoss // what waits for a connection goes on to wait
	}
	if over || s.refused.shouldReport(server, text, s.a.cfg.Now()) {
		s.postEvent(events.Event{Kind: events.ConnectionRefused, Code: code, Text: text, Server: server, End: end,
			Paused: int64(paused)})
	}
	if over {
		s.lost(code, why.Error(), 0)
	}
}

// mayLive reports whether the session was attached before, and its timeout has not gone by since the last frame. Then
// the refusal of one server says nothing of the others. Later, each further attempt would only keep a session that
// nobody can use.
func (s *session) mayLive() bool {
	return s.rejections.since != 0 && s.a.cfg.Now()-s.pauses.heard < int64(s.timeout)
}

// refusals limits the log while a failure goes on: the same text about the same server is
// reported again only after a while.
type refusals map[string]lastReport

type lastReport struct {
	text string
	at   int64
}

func (r refusals) shouldReport(server, text string, now int64) bool {
	const again = 10 * time.Second
	last, known := r[server]
	if known && last.text == text && now-last.at < int64(again) {
		return false
	}
	r[server] = lastReport{text, now}
	return true
}

// sleep waits for d; it returns false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
