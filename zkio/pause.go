package zkio

import (
	"errors"
	"net"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// A process that does not run for a while finds its connection silent, closed or refused
// when it runs again. That is no server's fault, so events and texts name the pause
// instead. Nothing is decided by it, with one exception: see watchdogFired.

// pauses is what a session knows of the pauses of its process.
type pauses struct {
	heard int64         // when the last frame was read
	own   time.Duration // the pause that explains the end of the last connection; 0: none does
}

// pauseBehind returns the pause that explains the end of the attached connection, 0 if none
// does. s.mu is held.
//
// Silence is explained if the server was silent for less than the limit while the process
// ran. A server closes a connection because it has heard nothing for a whole session
// timeout. The client pings every third of it, so the pause lasted for the rest, or seems a
// little shorter. What the server sent before it closed the connection is read just now: it
// does not show that the client was heard after the pause.
func (s *session) pauseBehind(why error) time.Duration {
	now := s.a.cfg.Now()
	if errors.Is(why, errSilent) {
		paused := s.a.cfg.Paused(s.pauses.heard)
		if events.PauseExplains(paused, time.Duration(now-s.pauses.heard), s.timeout*2/3) {
			return paused
		}
		return 0
	}
	if paused := s.a.cfg.Paused(min(s.pauses.heard, now-int64(s.timeout)/8)); paused >= s.timeout*3/5 {
		return paused
	}
	return 0
}

// expire ends a session that the ensemble has ended, and posts that it is lost. It returns
// the error for the wire that detected it.
func (s *session) expire(why string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	paused := s.pauseBehindExpiry()
	if paused != 0 {
		why = events.PauseText(paused) + ", and its session has expired"
	}
	s.lost(events.SessionExpired, why, paused)
	return errOver
}

// pauseBehindExpiry returns the pause that explains why the session has expired, 0 if none
// does: the one that ended the last connection, and what followed it.
func (s *session) pauseBehindExpiry() time.Duration {
	detached := s.rejections.since
	if detached == 0 { // it was never attached
		return 0
	}
	paused := s.pauses.own + s.a.cfg.Paused(detached)
	away := s.pauses.own + time.Duration(s.a.cfg.Now()-detached)
	if events.PauseExplains(paused, away, s.timeout) {
		return paused
	}
	return 0
}

// attemptPaused returns the pause that explains why an attempt to connect
// took too long; 0 if none does.
func (s *session) attemptPaused(why error, w *wire) time.Duration {
	var timeout net.Error
	if !errors.Is(why, errSilent) && !(errors.As(why, &timeout) && timeout.Timeout()) {
		return 0
	}
	paused := s.a.cfg.Paused(w.dialledAt)
	if events.PauseExplains(paused, time.Duration(s.a.cfg.Now()-w.dialledAt), w.bound) {
		return paused
	}
	return 0
}

// restartWatchdog gives the keeper the whole time for its next step. s.mu is held.
func (s *session) restartWatchdog() {
	s.watchedSince = s.a.cfg.Now()
	s.watchdog.Reset(s.watchdogTimeout())
}

// watchdogPaused reports whether the watchdog fired because the process did not run.
func (s *session) watchdogPaused() bool {
	waited := time.Duration(s.a.cfg.Now() - s.watchedSince)
	return events.PauseExplains(s.a.cfg.Paused(s.watchedSince), waited, s.watchdogTimeout())
}
