package incumbent

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/internal/async"
	"github.com/incumbent-go/incumbent/internal/journal"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// manyCalls are more than wait for a slow function.
const manyCalls = 5*async.MaxUncalled + 1

// A listener that hangs keeps whole pairs waiting, no more than the bound, and at last hears what is so.
func TestASlowListenerGetsPairs(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		c := atRest(t)
		p := &participant{}
		p.init(c, "/line")
		release, begun, ended := make(chan bool), []int64{}, []int64{}
		one := p.listener(Listener{
			IsLeader: func(t Term) { <-release; begun = append(begun, t.Token) },
			NotLeader: func(t Term, _ error) {
				if ended = append(ended, t.Token); t.Token != begun[len(begun)-1] {
					panic("not a pair")
				}
			},
		})
		p.listeners.Add(one, func() (change, bool) { return change{}, false })
		for token := int64(1); token <= manyCalls; token++ {
			p.listeners.Send(change{term: Term{Token: token}}, func() {})
			if synctest.Wait(); token < manyCalls {
				p.listeners.Send(change{term: Term{Token: token}, lost: errors.New("lost")}, func() {})
			}
		}
		waiting := one.Mail.Waiting()
		close(release)
		synctest.Wait()
		calls := len(begun) + len(ended)
		if waiting > async.MaxUncalled+2 || len(begun) != len(ended)+1 || begun[len(begun)-1] != manyCalls {
			t.Errorf("%d calls waited; %d begins, the last %d, and %d ends", waiting, len(begun), begun[len(begun)-1], len(ended))
		}
		if dropped := c.callsDropped.Load(); dropped == 0 || int(dropped)+calls != 2*manyCalls-1 {
			t.Errorf("%d calls, and %d dropped, of %d", calls, dropped, 2*manyCalls-1)
		}
	})
}

// OnConnection that hangs has no more than the bound waiting. At last it hears the present state, and no state twice.
func TestASlowOnConnectionGetsTheNewestState(t *testing.T) {
	for name, last := range map[string][]ConnectionState{
		"an outage":   {Suspended, Reconnected, Suspended},
		"a loss":      {Suspended, Lost},
		"a reconnect": {Suspended, Lost, Reconnected},
	} {
		t.Run(name, func(t *testing.T) {
			virtual.Test(t, func(t *testing.T) {
				c := atRest(t)
				release, seen := make(chan bool), []ConnectionState{}
				var all async.Listeners[ConnectionState]
				one := c.connectionListener(func(s ConnectionState) { <-release; seen = append(seen, s) })
				all.Add(one, func() (ConnectionState, bool) { return "", false })
				sent := 0
				send := func(s ConnectionState) { sent++; all.Send(s, func() {}) }
				for range manyCalls {
					send(Suspended)
					send(Reconnected)
				}
				for _, s := range last {
					send(s)
				}
				close(release)
				synctest.Wait()
				if len(seen) > async.MaxUncalled+1 || seen[len(seen)-1] != last[len(last)-1] {
					t.Errorf("%d states, the last %s, want %s", len(seen), seen[len(seen)-1], last[len(last)-1])
				}
				for i := 1; i < len(seen); i++ {
					if seen[i] == seen[i-1] {
						t.Fatalf("state %d and the next are %s", i-1, seen[i])
					}
				}
				if dropped := c.callsDropped.Load(); int(dropped)+len(seen) != sent {
					t.Errorf("%d states, and %d dropped, of %d", len(seen), dropped, sent)
				}
			})
		})
	}
}

// heldWriter holds the first line until it is released.
type heldWriter struct {
	release chan bool
	lines   []string
}

func (w *heldWriter) Write(p []byte) (int, error) {
	<-w.release
	w.lines = append(w.lines, string(p))
	return len(p), nil
}

// A logger that hangs loses lines, and says how many when it goes on, also if no other line follows.
func TestASlowLoggerSaysWhatItDropped(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := &heldWriter{release: make(chan bool)}
		l := journal.New(zerolog.New(w), "")
		for range manyCalls {
			l.Log(zerolog.InfoLevel, "a line", nil)
			synctest.Wait()
		}
		close(w.release)
		synctest.Wait()
		dropped := int(l.Dropped.Load())
		gap := w.lines[len(w.lines)-1]
		if dropped == 0 || len(w.lines)-1+dropped != manyCalls || !strings.Contains(gap, fmt.Sprintf(`"lines":%d`, dropped)) {
			t.Errorf("%d lines, %d dropped, of %d; the last: %s", len(w.lines), dropped, manyCalls, gap)
		}
		l.Log(zerolog.InfoLevel, "the next", nil)
		if synctest.Wait(); !strings.Contains(w.lines[len(w.lines)-1], "the next") || len(w.lines)+dropped != manyCalls+2 {
			t.Errorf("after the gap: %s", w.lines[len(w.lines)-1])
		}
	})
}

// OnFailure that hangs does not keep what it was not told.
func TestASlowHookIsBounded(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		c := atRest(t)
		box, release := c.hookCalls("OnFailure", "/queue"), make(chan bool)
		called := 0
		for range manyCalls {
			box.Put(func() { <-release; called++ })
		}
		close(release)
		synctest.Wait()
		if dropped := int(c.callsDropped.Load()); dropped == 0 || called+dropped != manyCalls {
			t.Errorf("%d calls, and %d dropped, of %d", called, dropped, manyCalls)
		}
	})
}

// A function that ends its goroutine does not end the others' calls, and the log says so.
func TestAListenerThatEndsItsGoroutineIsLogged(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		logged := &sinkLines{}
		var calls atomic.Int32
		n := w.start(func(c *Config) { c.Logger = zerolog.New(logged) })
		n.OnConnection(func(ConnectionState) {
			calls.Add(1)
			runtime.Goexit()
		})
		synctest.Wait()
		n.cut()
		synctest.Wait()
		n.callsDropped.Add(3)
		n.log.Dropped.Add(2)
		if s := n.Stats(); s.CallsDropped != 3 || s.LinesDropped != 2 {
			t.Errorf("Stats has %d and %d, want 3 and 2", s.CallsDropped, s.LinesDropped)
		}
		if calls.Load() < 2 || len(logged.with("runtime.Goexit")) < 2 {
			t.Errorf("%d calls, and the log: %s", calls.Load(), logged.with(""))
		}
	})
}

// sinkLines are the lines of a log.
type sinkLines struct {
	mu  sync.Mutex
	all []string
}

func (l *sinkLines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, string(b))
	return len(b), nil
}

// with returns the lines that have a text.
func (l *sinkLines) with(text string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.all {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}
