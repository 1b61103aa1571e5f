package incumbent

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/async"
	"github.com/incumbent-go/incumbent/internal/belief"
	"github.com/incumbent-go/incumbent/internal/clock"
	"github.com/incumbent-go/incumbent/internal/journal"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// TestBrokenInvariants breaks each invariant of a client's handles once, and checks that the
// panic says which and where.
func TestBrokenInvariants(t *testing.T) {
	for broken, breakIt := range map[string]func(*Client, *participant){
		"a term begins within the term with token 7": func(c *Client, p *participant) {
			p.setTerm(termOf(p, 7))
			p.noteTerm(events.Notify{What: events.Elected, Token: 8})
		},
		"a term begins, and 1 pieces of work": func(c *Client, p *participant) {
			term := termOf(p, 7)
			p.setTerm(term)
			p.setTerm(nil)
			term.under = &termWork{works: []*Leadership{{}}}
			p.noteTerm(events.Notify{What: events.Elected, Token: 8})
		},
		"a term ends that has not begun": func(c *Client, p *participant) {
			p.noteTerm(events.Notify{What: events.Stopped})
		},
		"there is work under the terms with tokens": func(c *Client, p *participant) {
			first, second := termOf(p, 7), termOf(p, 8)
			c.deadlines.Check(first, second)
		},
		"leadership began: true, and before: true": func(c *Client, p *participant) {
			p.listeners.Add(p.listener(Listener{}), func() []change { return []change{{}} })
			p.listeners.Send(change{}, func() {})
		},
		"201 replies are kept, of at most 200": func(c *Client, p *participant) {
			o := &watchHandle{}
			o.init(c, "/line")
			o.base.Machine = p.base.Machine
			for n := range uint64(maxKept + 1) {
				o.keep(n, zkio.Kept{Stat: &zkio.Stat{}})
			}
		},
		"2 values wait, of 1 keys": func(c *Client, _ *participant) { newFeed[int](c).Check(1, 2, "next") },
	} {
		t.Run(broken, func(t *testing.T) {
			c := atRest(t)
			p := &participant{}
			p.base.Machine = "latch-1"
			p.prepare(c, "/line", LatchOptions{})
			said := panicOf(func() { breakIt(c, p) })
			if !strings.Contains(said, "broken invariant: "+broken) ||
				!strings.HasPrefix(said, `incumbent.Client(127.0.0.1:1) ("a name"): handle of machine `) {
				t.Errorf("%q", said)
			}
			c.core.Invariants, p.base.Commands.Broken = nil, nil
		})
	}
}

// atRest returns a client that runs nothing.
func atRest(t *testing.T) *Client {
	config := Config{Servers: "127.0.0.1:1", Name: "a name"}
	config, err := config.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	c := &Client{config: &config}
	c.prepare(journal.New(config.Logger, config.Name), clock.Of(func() int64 { return 1 }))
	c.core.Invariants = &belief.Checks{Client: fmt.Sprintf("%s (%q)", c, config.Name), Deadline: &c.core.Belief}
	c.watchDeadlines()
	return c
}

func termOf(p *participant, token int64) *heldTerm {
	return &heldTerm{Term: Term{Session: 1, Token: token}, holder: p}
}

// panicOf returns what a function panics with, "" if it does not.
func panicOf(f func()) (said string) {
	defer func() {
		if r := recover(); r != nil {
			said = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}

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
		p.listeners.Add(one, func() []change { return nil })
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
			t.Errorf("%d calls waited; %d begins, the last %d, and %d ends", waiting, len(begun), begun[len(begun)-1],
				len(ended))
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
				all.Add(one, func() []ConnectionState { return nil })
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

// What was dropped is in Stats.
func TestStatsHaveWhatWasDropped(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		n.callsDropped.Add(3)
		n.core.Log.Dropped.Add(2)
		if s := n.Stats(); s.CallsDropped != 3 || s.LinesDropped != 2 {
			t.Errorf("Stats has %d and %d, want 3 and 2", s.CallsDropped, s.LinesDropped)
		}
	})
}

// writerFunc is a function as a writer.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// What was logged before the end of a client is written when Close returns, unless the Logger is slow: then Close
// returns a moment later.
func TestCloseWritesTheLastLines(t *testing.T) {
	for name, slow := range map[string]bool{"quick": false, "slow": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				log, goes := &sharedLog{}, make(chan struct{})
				n := w.open(func(c *Config) {
					c.Logger = zerolog.New(writerFunc(func(p []byte) (int, error) {
						virtual.Sleep(journal.LastLines / 20)
						if slow {
							<-goes
						}
						return log.Write(p)
					}))
				})
				pass(time.Second)
				n.core.Log.Log(zerolog.InfoLevel, "the last line", nil)
				begun := time.Now()
				fine(t, n.Close(t.Context()))
				if took := time.Since(begun); took > journal.LastLines+time.Second/2 || slow &&
					took < journal.LastLines {
					t.Errorf("Close took %s", took)
				}
				if written := strings.Contains(log.String(), "the last line"); written == slow {
					t.Errorf("the last line is written: %t", written)
				}
				close(goes)
				pass(time.Second)
				n.core.Log.Log(zerolog.InfoLevel, "behind the end", nil)
				fine(t, n.Close(t.Context()))
				if !strings.Contains(log.String(), "behind the end") {
					t.Error("a second Close does not write the last lines")
				}
			})
		})
	}
}

// The delay of an observer master reaches both that compute with it: the session machine,
// by an option that is in the log, and what counts as a contact.
func TestObserverMastersAreTold(t *testing.T) {
	for observers, lag := range map[bool]time.Duration{false: 1500 * time.Millisecond, true: 3 * time.Second} {
		c, err := Open(t.Context(), Config{Servers: "192.0.2.1:2181", ObserverMasters: observers})
		if err != nil {
			t.Fatal(err)
		}
		if c.core.ReportLag() != lag || c.config.options()["observerMasters"] != strconv.FormatBool(observers) {
			t.Errorf("observer masters %t: lag %s, options %v", observers, c.core.ReportLag(), c.config.options())
		}
		_ = c.Close(t.Context()) // there is no server
	}
}

// Without a MaxAnswer, replies may be as large as requests, and 4 MiB at least.
func TestSizesThatAreNotSet(t *testing.T) {
	for _, config := range []Config{
		{}, {MaxRequest: 0xfffff}, {MaxRequest: 1 << 20, MaxAnswer: 1 << 20}, {MaxRequest: 64 << 20},
		{MaxRequest: 64 << 20, MaxAnswer: 1 << 30},
	} {
		config.Servers = "127.0.0.1:1"
		got, err := config.withDefaults()
		if err != nil || got.MaxAnswer < got.MaxRequest || got.MaxAnswer < 4<<20 && config.MaxAnswer == 0 {
			t.Errorf("%+v: %d, %d: %v", config, got.MaxRequest, got.MaxAnswer, err)
		}
	}
}

// keptData returns how many data a persistent node's handle keeps.
func keptData(n *PersistentNode) (kept int) {
	n.handle.data.mu.Lock()
	defer n.handle.data.mu.Unlock()
	for _, p := range n.handle.data.all {
		if !p.forgotten {
			kept++
		}
	}
	return kept
}

// Calls of SetData that give up keep the newest data only.
func TestSetDataKeepsNoOldData(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		p := must(n.PersistentNode("/kept", []byte("first"), PersistentNodeOptions{}))
		fine(t, p.Start())
		fine(t, p.WaitPresent(t.Context()))
		w.refuse(n, true)
		n.cut()
		for i := range 100 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			if err := p.SetData(ctx, fmt.Appendf(nil, "data %d", i)); err == nil {
				t.Fatal("SetData succeeded")
			}
			cancel()
			if kept := keptData(p); kept > 4 {
				t.Fatalf("after %d calls, %d data are kept", i, kept)
			}
		}
		w.refuse(n, false)
		pass(time.Minute)
		if kept := keptData(p); kept != 1 {
			t.Errorf("%d data are kept", kept)
		}
	})
}

// A machine that refuses to open has no handle any longer, and each call of the handle that it had says why.
func TestCallsToARefusedMachineSayWhy(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		c := atRest(t)
		c.core.IO = &zkio.Adapter{}
		c.core.Commands.Post = func(events.ID, events.Event) bool { return true }
		latch, puts, deletion := &Latch{}, &producer{}, &Deletion{done: make(chan struct{}), command: 1}
		latch.participant.prepare(c, "/line", LatchOptions{})
		puts.init(c, "/queue")
		puts.payloads, puts.puts = map[uint64][]byte{}, map[uint64]*put{}
		deletion.handle.init(c, "/node")
		latch.participant.base.Machine, puts.base.Machine = "latch-1", "producer-1"
		deletion.handle.base.Machine = "deletion-1"
		for id, r := range map[events.ID]receiver{"latch-1": latch, "producer-1": puts, "deletion-1": deletion} {
			c.handles.Set(id, r)
		}

		refused := events.Answer{Code: events.NotOpened, Text: `a latch has no option "rideout"`}
		if said := panicOf(func() { executor{c}.answer("latch-1", refused) }); !strings.Contains(said, refused.Text) {
			t.Errorf("tests pass over it: %q", said)
		}
		c.core.Invariants = nil
		_, _, replied, err := puts.begin([][]byte{[]byte("x")}, nil, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		waits := make(chan error, 1)
		go func() { waits <- latch.Start() }()
		synctest.Wait()
		for id := range c.handles.All() {
			executor{c}.answer(id, refused)
		}
		for i, err := range []error{<-waits, latch.Start(), (<-replied).Err, deletion.outcome} {
			if err == nil || !strings.HasSuffix(err.Error(), refused.Text) {
				t.Errorf("call %d: %v", i, err)
			}
		}
		if err := latch.Close(t.Context()); err != nil || latch.State() != Closed || len(c.handles.All()) > 0 {
			t.Errorf("close: %v; the latch is %s, and there are %d handles", err, latch.State(), len(c.handles.All()))
		}
		if <-deletion.done; len(puts.puts) > 0 || len(puts.payloads) > 0 {
			t.Errorf("%d puts and %d payloads are left", len(puts.puts), len(puts.payloads))
		}
	})
}
