package zkio

import (
	"fmt"
	"sync"
	"time"
)

// A loop that stands still must not keep its session: its nodes would hold places for which
// nothing acts. The keeper pings and redials by itself, so everything that would keep the
// session alive waits here until the loop runs again.
//
// The session asks for a sign of life with each ping, dial and attached connection, so at
// least every third of a session timeout. The loop stands still if it has not answered for
// another third. How often it runs is no measure: a loop that has nothing to do does not
// run for hours.

// signs has the signs of life that the adapter asks its loop for, one at a time.
type signs struct {
	ask func() <-chan struct{} // nil: the loop always runs

	mu    sync.Mutex
	sign  <-chan struct{} // asked for last
	since int64           // when it was asked for
}

// request asks for a sign, unless one is outstanding.
func (s *signs) request(now int64) {
	if s.ask == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.outstanding() {
		s.sign, s.since = s.ask(), now
	}
}

// overdue returns a sign that has been outstanding for at least patience, and since when;
// nil if there is none.
func (s *signs) overdue(now, patience int64) (sign <-chan struct{}, since int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.outstanding() || now-s.since < patience {
		return nil, 0
	}
	return s.sign, s.since
}

func (s *signs) outstanding() bool {
	if s.sign == nil {
		return false
	}
	select {
	case <-s.sign:
		return false
	default:
		return true
	}
}

// loopStalled returns nil if frames may be sent now. While the loop stands still it returns a
// channel that is closed when they may be sent again. s.mu is held.
func (s *session) loopStalled(now int64) <-chan struct{} {
	if s.stalled != nil || s.over {
		return s.stalled
	}
	sign, since := s.a.signs.overdue(now, int64(s.timeout)/3)
	if sign == nil {
		return nil
	}
	s.stalled = make(chan struct{})
	s.a.work.Go(func() { s.resume(sign, since) })
	return s.stalled
}

// resume waits until the loop runs again, or the session has ended, and then releases what
// waits for it. The watchdog begins again: the keeper was not at fault.
func (s *session) resume(sign <-chan struct{}, since int64) {
	s.a.cfg.Warn(fmt.Sprintf("the event loop has not answered for %s: nothing is sent until it does", s.a.since(since)))
	answered := false
	select {
	case <-sign:
		answered = true
	case <-s.ctx.Done():
	}
	s.mu.Lock()
	close(s.stalled)
	if !s.over {
		s.stalled = nil
		s.advance()
		if s.wire == nil {
			s.restartWatchdog()
		}
	}
	s.mu.Unlock()
	if answered {
		s.a.cfg.Warn(fmt.Sprintf("the event loop answers again, after %s: what was held back is sent now",
			s.a.since(since)))
	}
}

// since returns how long ago a time of the loop's clock was, in whole milliseconds.
func (a *Adapter) since(at int64) time.Duration {
	return time.Duration(a.cfg.Now() - at).Round(time.Millisecond)
}

// awaitLoop waits while the loop stands still, or until the session has ended, and reports
// whether it had to. If the connection has ended during the wait, the caller finds its
// socket shut.
func (s *session) awaitLoop() (waited bool) {
	s.mu.Lock()
	standing := s.loopStalled(s.a.cfg.Now())
	s.mu.Unlock()
	if standing == nil {
		return false
	}
	<-standing
	return true
}
