package zkio_test

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// pausing is a process whose pauses a test makes up, in front of a server of its own. The
// session timeout is 15 s.
type pausing struct {
	*rig
	pipes
	attached events.Event
	began    time.Time

	noted atomic.Int64 // the nanoseconds that it took to note pauses

	mu     sync.Mutex
	pauses []pause
	latest int64                    // a pause that nobody has noticed: the first question after it notes it
	dial   func() (net.Conn, error) // nil: the server is reached
}

// pause is one pause, by the process's clock.
type pause struct{ ended, lasted int64 }

func pauseTest(t *testing.T, test func(*pausing)) {
	t.Helper()
	virtual.Test(t, func(t *testing.T) {
		p := &pausing{pipes: newPipes(t, zkmem.Options{}), began: time.Now()}
		p.rig = newRig(t, zkio.Config{Servers: []string{"mem:2181"}, Now: p.now, Paused: p.paused,
			Dial: func(ctx dialContext, network, address string) (dialConn, error) {
				p.mu.Lock()
				dial := p.dial
				p.mu.Unlock()
				if dial != nil {
					return dial()
				}
				return p.pipes.dial(ctx, network, address)
			}})
		p.Execute(events.SessionMachine, events.Connect{Session: 1})
		p.attached = p.await(events.ConnectionAttached)
		synctest.Wait()
		test(p)
	})
}

func (p *pausing) now() int64 { return int64(time.Since(p.began)) + 1 + p.noted.Load() }

func (p *pausing) paused(since int64) (sum time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.latest > 0 {
		p.noted.Add(1)
		p.pauses = append(p.pauses, pause{p.now(), p.latest})
		p.latest = 0
	}
	for _, q := range p.pauses {
		if q.ended > since {
			sum += time.Duration(q.lasted)
		}
	}
	return sum
}

// ran lets time pass, of which the process did not run at the end.
func (p *pausing) ran(d, paused time.Duration) {
	virtual.Sleep(d)
	synctest.Wait()
	if paused > 0 {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.pauses = append(p.pauses, pause{p.now(), int64(paused)})
	}
}

// dials sets what becomes of dials.
func (p *pausing) dials(dial func() (net.Conn, error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dial = dial
}

func (p *pausing) want(ev events.Event, text string, paused time.Duration) {
	p.t.Helper()
	if ev.Text != text || ev.Paused != int64(paused) {
		p.t.Errorf("%s: %q, paused %s; want %q, paused %s", ev.Kind, ev.Text, time.Duration(ev.Paused), text, paused)
	}
}

// A server is silent for 10 s, the most that is allowed.
func TestAPauseIsNamedInPlaceOfSilence(t *testing.T) {
	for name, c := range map[string]struct {
		before time.Duration // from the last frame to the end of the pause
		paused time.Duration
		text   string
	}{
		"a pause": {8 * time.Second, 3 * time.Second,
			"this process did not run for 3.0 s, and lost its connection to mem:2181"},
		"a quarter": {8 * time.Second, 2500 * time.Millisecond,
			"this process did not run for 2.5 s, and lost its connection to mem:2181"},
		"a pause too short":   {8 * time.Second, 2400 * time.Millisecond, "mem:2181: silent for too long"},
		"no pause":            {8 * time.Second, 0, "mem:2181: silent for too long"},
		"a pause before that": {0, 3 * time.Second, "mem:2181: silent for too long"},
	} {
		t.Run(name, func(t *testing.T) {
			pauseTest(t, func(p *pausing) {
				p.Freeze(zkmem.Outbound)
				p.ran(c.before, c.paused)
				want := c.paused
				if c.text == "mem:2181: silent for too long" {
					want = 0
				}
				p.want(p.await(events.ConnectionSuspended), c.text, want)
				p.Heal()
				if again := p.await(events.ConnectionAttached); again.Paused != 0 {
					t.Errorf("attached: %+v", again)
				}
			})
		})
	}
}

// A server has heard nothing for a session timeout, and closes the connection. The client
// had pinged in the third before its pause.
func TestAPauseIsNamedInPlaceOfAClosedConnection(t *testing.T) {
	for name, c := range map[string]struct {
		paused, after time.Duration
		explains      bool
	}{
		"a pause":                    {9 * time.Second, 0, true},
		"and a frame was read since": {9 * time.Second, 1500 * time.Millisecond, true},
		"a pause too short":          {9*time.Second - 1, 0, false},
		"a pause long ago":           {9 * time.Second, 8 * time.Second, false},
		"no pause":                   {0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			pauseTest(t, func(p *pausing) {
				p.ran(4900*time.Millisecond, c.paused) // a ping is due 100 ms later
				p.ran(c.after, 0)
				p.Disconnect(p.attached.SessionID)
				text, want := "mem:2181: closed by the server", time.Duration(0)
				if c.explains {
					text, want = "this process did not run for 9.0 s, and lost its connection to mem:2181", c.paused
				}
				p.want(p.await(events.ConnectionSuspended), text, want)
			})
		})
	}
}

// A session expires while its process is paused, or while it has no connection.
func TestAPauseIsNamedInPlaceOfAnExpiry(t *testing.T) {
	const said = "the ensemble says that the session has expired"
	for name, c := range map[string]struct {
		before, during time.Duration // pauses before the connection ended, and after that
		away           time.Duration // how long it had no connection
		text           string
	}{
		"before": {12 * time.Second, 0, time.Second,
			"this process did not run for 12.0 s, and its session has expired"},
		"during": {0, 14 * time.Second, 15 * time.Second,
			"this process did not run for 14.0 s, and its session has expired"},
		"both": {12 * time.Second, time.Second, 10 * time.Second,
			"this process did not run for 13.0 s, and its session has expired"},
		"neither":            {0, 0, time.Second, said},
		"it ran long enough": {12 * time.Second, 0, 15 * time.Second, said},
	} {
		t.Run(name, func(t *testing.T) {
			pauseTest(t, func(p *pausing) {
				p.dials(func() (net.Conn, error) { return nil, errors.New("no route to host") })
				p.ran(time.Second, c.before)
				p.ExpireSession(p.attached.SessionID)
				if got := p.await(events.ConnectionSuspended).Paused; got != int64(c.before) {
					t.Errorf("suspended by a pause of %s, want %s", time.Duration(got), c.before)
				}
				p.ran(c.away, c.during)
				p.dials(nil)
				want := c.before + c.during
				if c.text == said {
					want = 0
				}
				p.want(p.await(events.ConnectionLost), c.text, want)
			})
		})
	}
}

// The end of the connection is what the process notices first after its pause.
func TestAPauseBeforeAnExpiryCountsOnce(t *testing.T) {
	pauseTest(t, func(p *pausing) {
		p.ran(time.Second, 0)
		p.mu.Lock()
		p.latest = int64(20 * time.Second)
		p.mu.Unlock()
		p.ExpireSession(p.attached.SessionID)
		p.want(p.await(events.ConnectionSuspended),
			"this process did not run for 20.0 s, and lost its connection to mem:2181", 20*time.Second)
		p.want(p.await(events.ConnectionLost),
			"this process did not run for 20.0 s, and its session has expired", 20*time.Second)
	})
}

// An attempt to connect ends at its deadline, after 5 s.
func TestAPauseIsNamedInPlaceOfASlowServer(t *testing.T) {
	for name, c := range map[string]struct {
		paused time.Duration
		text   string
	}{
		"a pause":  {4 * time.Second, "this process did not run for 4.0 s while it connected to mem:2181"},
		"no pause": {0, "mem:2181: silent for too long"},
	} {
		t.Run(name, func(t *testing.T) {
			pauseTest(t, func(p *pausing) {
				p.Freeze(zkmem.Outbound)
				p.Disconnect(p.attached.SessionID)
				p.ran(4900*time.Millisecond, c.paused)
				p.want(p.await(events.ConnectionRefused), c.text, c.paused)
			})
		})
	}
}

// The watchdog fires after the keeper did nothing for 16 s, because its process did not run.
func TestThePauseOfAProcessIsNoStuckConnection(t *testing.T) {
	pauseTest(t, func(p *pausing) {
		held := make(chan struct{})
		p.dials(func() (net.Conn, error) {
			<-held
			return nil, errors.New("no route to host")
		})
		p.Disconnect(p.attached.SessionID)
		p.await(events.ConnectionSuspended)
		p.ran(15*time.Second, 12*time.Second)
		p.ran(10*time.Second, 0)
		for _, e := range p.rest() {
			if e.Event.Kind == events.ConnectionLost {
				t.Errorf("the session was abandoned: %+v", e.Event)
			}
		}
		p.ran(10*time.Second, 0) // and now it is stuck
		p.want(p.await(events.ConnectionLost),
			"the client library got stuck while connecting: the session was abandoned", 0)
		close(held)
	})
}
