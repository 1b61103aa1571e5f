package figures

import (
	"fmt"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// candidate starts a candidate of a plain election, and waits as latch does. A
// client has one in a line.
func (c *client) candidate(path, state string) (e *incumbent.Election, id events.ID) {
	c.t.Helper()
	e, err := c.Election(path, "n_", incumbent.LatchOptions{})
	ok(c.t, err)
	ok(c.t, e.Start())
	c.settled("election-1", state)
	return e, "election-1"
}

func TestRequestsOfAnElection(t *testing.T) {
	srv := zkmem.Start(t)
	found(t, srv, "/line")
	first, second := open(t, srv), open(t, srv)
	reset(srv)
	leader, id := first.candidate("/line", "leading")
	figure(t, "election, start to leading on an existing path: requests", counts(srv).Total, 3)
	figure(t, "election, start to leading on an existing path: round trips", trips(first.tape.Records(), id), 2)
	_, id = second.candidate("/line", "waiting")
	figure(t, "election, start to an armed follower: round trips", trips(second.tape.Records(), id), 3)
	second.confirmed()

	// The server hears nothing of the new leader once the old one's node is gone.
	reset(srv)
	srv.Freeze(zkmem.Inbound, owner(t, srv, "/line", 1))
	ok(t, leader.Close(first.ctx))
	second.settled(id, "leading")
	figure(t, "election, take-over: requests, the deletion included", withoutHeartbeats(srv.Counts()), 1)
	srv.Heal()
}

// withoutHeartbeats returns a number of requests that does not grow with a slow machine:
// a candidate's heartbeat is a check, and a read behind it.
func withoutHeartbeats(counts zkmem.Counts) int { return counts.Total - 2*counts.ByOp[zkmem.OpMulti] }

// confirmed waits until the heartbeat of the next in line has begun.
func (c *client) confirmed() {
	c.t.Helper()
	c.tape.Until("a heartbeat of the next in line", func(records []events.Record) bool {
		for _, r := range records {
			if r.Machine == events.SessionMachine && r.Event.Kind == events.ReplyMulti ||
				r.Event.Kind == events.ConnectionConfirmed {
				return true
			}
		}
		return false
	})
}

// TestRequestsOfALostCreate counts what a create costs whose reply was lost, if the name
// has no GUID, so that a listing does not show which node is the own one.
func TestRequestsOfALostCreate(t *testing.T) {
	for _, others := range []int{1, 10} {
		srv := zkmem.Start(t)
		found(t, srv, "/line")
		for range others {
			_, err := srv.Create("/line/n_", nil, zkmem.PersistentSequential)
			ok(t, err)
		}
		c := open(t, srv)
		lost := make(chan struct{}, 1)
		t.Cleanup(srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if r.Op != zkmem.OpCreate || !strings.HasSuffix(r.Path, "/n_") {
				return zkmem.Verdict{}
			}
			select {
			case lost <- struct{}{}:
				return zkmem.Verdict{Action: zkmem.CutAfter}
			default:
				return zkmem.Verdict{}
			}
		}))
		reset(srv)
		c.candidate("/line", "blocked")
		sent := counts(srv)
		figure(t, fmt.Sprintf("election, a lost create among %d others: creates", others), sent.ByOp[zkmem.OpCreate], 1)
		// but for the heartbeat's
		figure(t, fmt.Sprintf("election, a lost create among %d others: reads of owners", others),
			sent.ByOp[zkmem.OpExists]-sent.ByOp[zkmem.OpMulti], others+1)
		// the heartbeat's first included
		figure(t, fmt.Sprintf("election, a lost create among %d others: all else", others),
			sent.Total-sent.ByOp[zkmem.OpExists], 7)
	}
}

// TestRequestsOfARelease: work that outlives its term costs one read, because there was
// no watch on the name meanwhile.
func TestRequestsOfARelease(t *testing.T) {
	srv := zkmem.Start(t)
	for _, test := range []struct {
		what string
		work bool
		most int
	}{{"election, close: requests", false, 1}, {"election, close while work runs: requests", true, 2}} {
		c := open(t, srv)
		e, id := c.candidate("/line", "leading")
		held, err := e.Await(c.ctx)
		ok(t, err)
		if !test.work {
			held.Release()
		}
		reset(srv)
		closed := make(chan error, 1)
		go func() { closed <- e.Close(c.ctx) }()
		<-held.Context().Done()
		held.Release()
		ok(t, <-closed)
		c.settled(id, "closed")
		figure(t, test.what, withoutHeartbeats(counts(srv)), test.most)
	}
}
