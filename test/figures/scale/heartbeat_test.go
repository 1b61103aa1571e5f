package scale

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/tape"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// window is how many requests of a lane are pending at a time.
const window = 64

// order counts the requests that the server got before the heartbeat, after it was let
// go on.
type order struct {
	mu      sync.Mutex
	holding bool
	held    chan struct{} // closed when a request waits at the server
	gate    chan struct{}
	served  int
	beats   int // heartbeats served, from the beginning
	beat    int // the heartbeat's place
	seen    chan struct{}
}

// missing reports whether a heartbeat has left that was not served yet.
func (o *order) missing(records []events.Record) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return beats(records, asked) > o.beats
}

// hold has the server stop at the next request.
func (o *order) hold() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.holding = true
}

func (o *order) decide(r zkmem.Request) zkmem.Verdict {
	o.mu.Lock()
	defer o.mu.Unlock()
	beat := r.Op == zkmem.OpSync || r.Op == zkmem.OpMulti
	if beat {
		o.beats++
	}
	if !o.holding || r.Op == zkmem.OpPing || r.Op == zkmem.OpCreateSession {
		return zkmem.Verdict{}
	}
	o.served++
	if beat && o.beat == 0 {
		o.beat = o.served
		close(o.seen)
	}
	if o.served == 1 {
		close(o.held)
		return zkmem.Verdict{Wait: o.gate}
	}
	return zkmem.Verdict{}
}

// The server stops for a while in the midst of many who start, or close. When it
// goes on, the heartbeat that came due meanwhile has at most what was under way
// before it, however long the line is.
func TestTheHeartbeatStandsInNoLine(t *testing.T) {
	for _, what := range []string{"start", "close"} {
		t.Run(what, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), within)
			defer cancel()
			srv := zkmem.Start(t, zkmem.Options{Tick: 400 * time.Millisecond})
			o := &order{held: make(chan struct{}), gate: make(chan struct{}), seen: make(chan struct{})}
			srv.Intercept(o.decide)
			log := tape.New(t)
			c, err := incumbent.Open(ctx, incumbent.Config{
				Servers: srv.Addr(), SessionTimeout: 8 * time.Second, Tick: 400 * time.Millisecond,
				Record: incumbent.RecordTo(log), RideOut: true,
			})
			ok(t, err)
			defer c.Close(ctx)
			steady, err := c.Latch("/steady", incumbent.LatchOptions{})
			ok(t, err)
			ok(t, steady.Start())
			held, err := steady.Await(ctx)
			ok(t, err)
			held.Release()
			crowd := many(t, c, size(500, 5000))
			if what == "close" {
				for _, l := range crowd {
					ok(t, l.Start())
				}
				ok(t, srv.WaitFor(ctx, func(v *zkmem.View) bool { return v.WatchCount() >= len(crowd) }))
			}
			// Now that one is answered, the next is a quarter of the timeout away.
			answered := beats(log.Records(), reply)
			log.Until("the answer to a heartbeat", func(records []events.Record) bool {
				return beats(records, reply) > answered
			})
			o.hold()
			var all sync.WaitGroup
			for _, l := range crowd {
				all.Go(func() {
					if what == "start" {
						_ = l.Start()
					} else {
						_ = l.Close(ctx)
					}
				})
			}
			<-o.held
			if what == "start" {
				all.Wait()
			}
			log.Until("the next heartbeat to leave", o.missing)
			close(o.gate)
			<-o.seen
			all.Wait()
			if t.Logf("the heartbeat was served as number %d", o.beat); o.beat > 2*window+2 {
				t.Errorf("the heartbeat was served as number %d", o.beat)
			}
		})
	}
}

// beats counts the session machine's records that are about the heartbeat.
func beats(records []events.Record, is func(events.Record) bool) (n int) {
	for _, r := range records {
		if r.Machine == events.SessionMachine && is(r) {
			n++
		}
	}
	return n
}

func reply(r events.Record) bool {
	return r.Event.Kind == events.ReplyMulti || r.Event.Kind == events.ReplySync
}

func asked(r events.Record) bool {
	return slices.ContainsFunc(r.Effects.Strings(), func(e string) bool {
		return strings.Contains(e, "! multi") || strings.Contains(e, "! sync")
	})
}

// many creates latches and does not start them.
func many(t *testing.T, c *incumbent.Client, n int) []*incumbent.Latch {
	t.Helper()
	all := make([]*incumbent.Latch, n)
	for i := range all {
		var err error
		all[i], err = c.Latch(fmt.Sprintf("/crowd/%d", i/20), incumbent.LatchOptions{})
		ok(t, err)
	}
	return all
}
