package zkio_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// loop stands for an event loop that runs or stands still as a test wants. It has a clock,
// which a test can let run on as that of a stopped process does.
type loop struct {
	mu     sync.Mutex
	stands bool
	sign   chan struct{}
	asked  int
	began  time.Time
	ahead  time.Duration
	warned []string
}

func (l *loop) signOfLife() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked++
	if l.sign == nil {
		l.sign = make(chan struct{})
	}
	sign := l.sign
	if !l.stands {
		l.step()
	}
	return sign
}

// step gives the sign that was asked for. l.mu is held.
func (l *loop) step() {
	if l.sign != nil {
		close(l.sign)
		l.sign = nil
	}
}

func (l *loop) stand() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stands = true
}

func (l *loop) run() {
	l.mu.Lock()
	l.stands = false
	l.step()
	l.mu.Unlock()
	synctest.Wait()
}

func (l *loop) now() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(time.Since(l.began)+l.ahead) + 1
}

// wake ends a pause of the process.
func (l *loop) wake(after time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ahead += after
}

func (l *loop) warn(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if strings.Contains(text, "event loop") {
		l.warned = append(l.warned, text)
	}
}

func (l *loop) warnings() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.warned...)
}

// stage is an attached session of a loop, in front of a server of its own.
type stage struct {
	*rig
	*loop
	pipes
	attached events.Event
	dials    int
	slow     time.Duration // what a dial takes
	down     bool          // dials fail
}

// third is a third of the session timeout: the interval of the pings, and how long
// a sign of life may take.
const third = 5 * time.Second

// stalledLoopTest runs a test in a synctest bubble.
func stalledLoopTest(t *testing.T, test func(*testing.T, *stage)) {
	t.Helper()
	virtual.Test(t, func(t *testing.T) {
		s := &stage{loop: &loop{began: time.Now()}, pipes: newPipes(t, zkmem.Options{})}
		s.rig = newRig(t, zkio.Config{
			Servers: []string{"mem:2181"}, Timeout: 3 * third, Backoff: time.Second, Now: s.loop.now,
			SignOfLife: s.signOfLife, Warn: s.warn,
			Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
				s.dials++
				if virtual.Sleep(s.slow); s.down {
					return nil, errors.New("no route to host")
				}
				return s.pipes.dial(ctx, network, address)
			},
		})
		s.Execute(events.SessionMachine, events.Connect{Session: 1})
		s.attached = s.await(events.ConnectionAttached)
		synctest.Wait()
		test(t, s)
	})
}

// pass lets time pass, and waits until nothing runs.
func (s *stage) pass(d time.Duration) {
	virtual.Sleep(d)
	synctest.Wait()
}

func (s *stage) pings() int { return s.Counts().Pings }

// alive reports whether the server keeps the session.
func (s *stage) alive() bool {
	for _, session := range s.Sessions() {
		if session.ID == s.attached.SessionID {
			return true
		}
	}
	return false
}
