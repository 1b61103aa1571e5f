package suite

import (
	"context"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func TestDowngradeKeepsThePlace(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		l := connected(t, e).newReadWrite(e.dir(), incumbent.MutexOptions{ID: "host-a"})
		ctx := l.c.ctx
		w := l.write()
		_, before := l.queueReader()
		writer, next := l.queueWriter()
		after, last := l.queueReader()

		r, err := w.Downgrade(ctx)
		ok(t, err)
		is(t, w.Check(), incumbent.ErrLeadershipLost)
		is(t, w.Unlock(ctx), incumbent.ErrNotHeld)
		_, err = w.Downgrade(ctx)
		is(t, err, incumbent.ErrNotHeld)
		is(t, context.Cause(w.Context()), context.Canceled)
		ok(t, r.Check())
		if r.Token() != w.Token() || r.Term().Path != strings.Replace(w.Term().Path, "__WRIT__", "__READ__", 1) {
			t.Fatalf("%+v after %+v", r.Term(), w.Term())
		}
		ok(t, granted(t, before, "the reader behind it").Unlock(ctx))
		writer.state("waiting")
		after.state("waiting")
		if names := e.children(e.dir()); len(names) != 3 {
			t.Fatalf("%q", names)
		}
		_, err = r.Write(ctx, incumbent.SetData(r.Term().Path, []byte("host-a"), incumbent.AnyVersion))
		ok(t, err)
		_, err = w.Write(ctx, incumbent.SetData(r.Term().Path, []byte("host-a"), incumbent.AnyVersion))
		is(t, err, incumbent.ErrLeadershipLost)

		ok(t, r.Unlock(ctx))
		ok(t, granted(t, next, "the writer").Unlock(ctx))
		ok(t, granted(t, last, "the last reader").Unlock(ctx))
		e.untilChildren(e.dir(), 0)
	})
}

func TestDowngradeOfALostHold(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		l := connected(t, e).newReadWrite(e.dir(), incumbent.MutexOptions{})
		w := l.write()
		e.remove(w.Term().Path)
		_, err := w.Downgrade(l.c.ctx) // the news may be on its way
		is(t, err, incumbent.ErrLeadershipLost)
		is(t, err, incumbent.ErrLockLost)
		is(t, w.Unlock(l.c.ctx), incumbent.ErrNotHeld)
		handle{l.c, "readwrite-1"}.state("closed")
		e.untilChildren(e.dir(), 0)

		w = l.write()
		_, err = w.Downgrade(brief())
		is(t, err, context.Canceled)
		e.untilChildren(e.dir(), 0)
	})
}

// TestDowngradeInDoubt loses the transaction's answer, and the transaction: either
// way nothing is held any more, and nothing is left.
func TestDowngradeInDoubt(t *testing.T) {
	e := inMemory(t)
	l := connected(t, e).newReadWrite(e.dir(), incumbent.MutexOptions{})
	lowers := func(r zkmem.Request) bool { return r.Op == zkmem.OpMulti && strings.Contains(r.Path, "__READ__") }
	for _, action := range []zkmem.Action{zkmem.CutAfter, zkmem.CutBefore} {
		w := l.write()
		_, next := l.queueWriter()
		hit := e.once(lowers, verdict(zkmem.Verdict{Action: action}))
		_, err := w.Downgrade(l.c.ctx)
		is(t, err, incumbent.ErrLeadershipLost)
		is(t, err, incumbent.ErrLockLost)
		if incumbent.LostReason(err) != incumbent.ReasonUnconfirmed {
			t.Errorf("%v: want that it was not confirmed", err)
		}
		recv(t, hit, "the transaction")
		ok(t, granted(t, next, "the next writer").Unlock(l.c.ctx))
		e.untilChildren(e.dir(), 0)
	}
}
