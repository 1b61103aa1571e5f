package zkio_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// ZooKeeper cannot take a watch back, but a closed machine gets no event, not even the
// reply to its last read, if that comes later; and nothing is armed again for it.
func TestFact15_NobodyWatchesForAMachineThatIsOver(t *testing.T) {
	srv := zkmem.Start(t)
	srv.Create("/n", nil, zkmem.Persistent)
	r, attached := attachedRig(t, srv)
	r.Execute("latch-1", events.Get{Call: r.call(), Path: "/n", Watch: true})
	r.await(events.ReplyStat)
	r.Forget("latch-1")
	arrived, answer := make(chan struct{}), make(chan struct{})
	remove := srv.Intercept(func(q zkmem.Request) zkmem.Verdict {
		if q.Op == zkmem.OpGetData {
			close(arrived)
			return zkmem.Verdict{Wait: answer}
		}
		return zkmem.Verdict{}
	})
	r.Execute("latch-2", events.Get{Call: r.call(), Path: "/n", Watch: true})
	<-arrived
	r.Forget("latch-2")
	close(answer)
	remove()
	r.Execute("latch-3", events.Sync{Call: r.call(), Path: "/"})
	posted := []events.Envelope{r.take()} // requests sent before are answered before
	srv.Set("/n", []byte("new"))
	r.Execute("latch-3", events.Sync{Call: r.call(), Path: "/"})
	for _, got := range append(posted, r.take()) {
		if got.Event.Kind != events.ReplySync {
			t.Errorf("posted: %+v", got)
		}
	}
	r.Execute("latch-3", events.Get{Call: r.call(), Path: "/n", Watch: true})
	r.await(events.ReplyStat)
	r.Forget("latch-3")
	srv.Disconnect(attached.SessionID)
	r.await(events.ConnectionAttached)
	srv.View(func(v *zkmem.View) {
		if n := v.WatchCount(); n != 0 {
			t.Errorf("%d watches were armed again", n)
		}
	})
}

// The waiting calls of a closed machine: its reads are dropped, its writes are sent and
// answered, and calls of others stay. After a reconnect nothing of it is armed.
func TestTheLanesOfAMachineThatIsOver(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		p := newPipes(t, zkmem.Options{})
		for _, path := range []string{"/n", "/gone", "/held"} {
			p.Create(path, nil, zkmem.Persistent)
		}
		r, attached := pipedRig(t, p, zkio.Config{Window: 1})
		held := make(chan struct{})
		remove := p.Intercept(func(q zkmem.Request) zkmem.Verdict {
			if q.Path == "/held" {
				return zkmem.Verdict{Wait: held}
			}
			return zkmem.Verdict{}
		})
		defer remove()
		r.Execute("on", events.Get{Call: r.call(), Path: "/held"})
		synctest.Wait()
		p.ResetCounts()
		for _, e := range []events.Request{
			events.Get{Call: r.call(), Path: "/n", Watch: true}, events.Exists{Call: r.call(), Path: "/n", Watch: true},
			events.Children{Call: r.call(), Path: "/n", Watch: true}, events.Sync{Call: r.call(), Path: "/n"},
			events.Create{Call: r.call(), Path: "/made", Mode: events.Ephemeral},
			events.Delete{Call: r.call(), Path: "/gone"},
			events.Multi{Call: r.call(), Ops: []events.Op{{Verb: "check", Path: "/n", Version: -1}}},
		} {
			r.Execute("over", e)
		}
		r.Execute("on", events.Children{Call: r.call(), Path: "/n", Watch: true})
		synctest.Wait()
		r.Forget("over")
		close(held)
		synctest.Wait()
		posted := map[events.ID]map[events.Kind]int{}
		for _, e := range r.rest() {
			if posted[e.To] == nil {
				posted[e.To] = map[events.Kind]int{}
			}
			posted[e.To][e.Event.Kind]++
		}
		if got, want := fmt.Sprint(posted), fmt.Sprint(map[events.ID]map[events.Kind]int{
			"on":   {events.ReplyStat: 1, events.ReplyChildren: 1},
			"over": {events.ReplyCreate: 1, events.ReplyDelete: 1, events.ReplyMulti: 1},
		}); got != want {
			t.Errorf("posted\n%s, want\n%s", got, want)
		}
		if got, want := fmt.Sprint(p.Counts().ByOp),
			"map[create:1 delete:1 getData:1 getChildren2:1 multi:1]"; got != want {
			t.Errorf("%s came, want %s", got, want)
		}
		p.Disconnect(attached.SessionID)
		r.await(events.ConnectionAttached)
		p.View(func(v *zkmem.View) {
			if n := v.WatchCount(); n != 1 || v.Watches(zkmem.ChildWatch, "/n") != 1 {
				t.Errorf("%d watches were armed again", n)
			}
		})
	})
}
