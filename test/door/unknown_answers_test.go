package door_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// answerCodes are codes that a write may be answered with: all that ZooKeeper has, and some without a name.
var answerCodes = []zkmem.Code{-1, -2, -3, -4, -5, -6, -7, -8, -9, -12, -13, -14, -100, -101, -102, -103, -108, -110,
	-111, -112, -113, -114, -115,
	-118, -119, -120, -121, -122, -123, -124, -125, -127, -50, 7}

// proving are those that say that the write was not done.
var proving = map[zkmem.Code]bool{-6: true, -8: true, -101: true, -102: true, -103: true, -108: true, -110: true,
	-111: true, -112: true, -114: true,
	-115: true, -118: true, -119: true, -120: true, -124: true, -125: true, -127: true}

// answer answers the next write in or below a directory with a code. It is done before, or not.
func (w *world) answer(dir string, code zkmem.Code, done bool, times int) {
	verdict := zkmem.Verdict{Action: zkmem.Refuse, Code: code}
	if done {
		verdict.Action = zkmem.Misreport
	}
	w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
		switch r.Op {
		case zkmem.OpCreate, zkmem.OpCreate2, zkmem.OpDelete, zkmem.OpSetData, zkmem.OpMulti:
			if times > 0 && strings.HasPrefix(r.Path, dir) {
				times--
				return verdict
			}
		}
		return zkmem.Verdict{}
	})
}

// answered runs a test for each code, with the write done and not done. A server that contradicts itself says of a
// write that it
// has done that it has not.
func answered(t *testing.T, contradicts bool, test func(t *testing.T, w *world, code zkmem.Code, done bool)) {
	for _, code := range selection.Some(t, "codes", 9, 17, answerCodes) {
		for _, done := range []bool{true, false} {
			if done && proving[code] && !contradicts {
				continue
			}
			t.Run(fmt.Sprintf("%d/done %t", code, done), func(t *testing.T) {
				bubble(t, zkmem.Options{}, func(t *testing.T, w *world) { test(t, w, code, done) })
			})
		}
	}
}

// bound is how long nobody leads at most: some session timeouts.
const bound = time.Minute

// An enrolment is answered with a code: the participant leads soon, and one behind it after its close.
func TestAnEnrolmentAnsweredWithACode(t *testing.T) {
	answered(t, true, func(t *testing.T, w *world, code zkmem.Code, done bool) {
		first, second := w.open(), w.open()
		w.answer("/l/", code, done, 1)
		a, err := first.Latch("/l", incumbent.LatchOptions{})
		fine(t, err)
		fine(t, a.Start())
		pass(bound)
		if !a.HasLeadership() || a.Err() != nil || len(w.children("/l")) != 1 {
			t.Fatalf("leads %t, %v, %v", a.HasLeadership(), a.Err(), w.children("/l"))
		}
		b, err := second.Latch("/l", incumbent.LatchOptions{})
		fine(t, err)
		fine(t, b.Start())
		fine(t, a.Close(t.Context()))
		pass(bound)
		if !b.HasLeadership() || len(w.children("/l")) != 1 {
			t.Fatalf("the next: leads %t, %v, %v", b.HasLeadership(), b.Err(), w.children("/l"))
		}
	})
}

// A lock is held after an answer that says nothing, and refused by one that says that nothing was done. No node stays.
func TestAnAcquisitionAnsweredWithACode(t *testing.T) {
	for name, lock := range map[string]func(n *node, ctx context.Context) (*incumbent.Hold, error){
		"mutex": func(n *node, ctx context.Context) (*incumbent.Hold, error) {
			m, err := n.Mutex("/l", incumbent.MutexOptions{})
			if err != nil {
				return nil, err
			}
			return m.Lock(ctx)
		},
		"semaphore": func(n *node, ctx context.Context) (*incumbent.Hold, error) {
			s, err := n.Semaphore("/l", 1, incumbent.SemaphoreOptions{})
			if err != nil {
				return nil, err
			}
			return s.Acquire(ctx, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			answered(t, false, func(t *testing.T, w *world, code zkmem.Code, done bool) {
				n, other := w.open(), w.open()
				w.answer("/l", code, done, 1)
				ctx, stop := context.WithTimeout(t.Context(), bound)
				defer stop()
				hold, err := lock(n, ctx)
				if err == nil {
					fine(t, hold.Unlock(t.Context()))
				} else if !proving[code] {
					t.Errorf("the lock is not held: %v", err)
				}
				hold, err = lock(other, ctx)
				fine(t, err)
				fine(t, hold.Unlock(t.Context()))
			})
		})
	}
}

// A persistent node is there soon, and it is the handle's own.
func TestAPersistentNodeAnsweredWithACode(t *testing.T) {
	answered(t, false, func(t *testing.T, w *world, code zkmem.Code, done bool) {
		n := w.open()
		w.srv.Create("/p", nil, zkmem.Persistent)
		w.answer("/p/", code, done, 1)
		p, err := n.PersistentNode("/p/n", []byte("a"), incumbent.PersistentNodeOptions{})
		fine(t, err)
		fine(t, p.Start())
		pass(bound)
		if got := w.children("/p"); len(got) != 1 || p.Err() != nil || !p.Present() {
			t.Fatalf("%v, %v, present %t", got, p.Err(), p.Present())
		}
		fine(t, p.Close(t.Context()))
		if got := w.children("/p"); len(got) != 0 {
			t.Errorf("%v stays", got)
		}
	})
}

// An error of a write says that nothing was done only if that is so.
func TestAWriteAnsweredWithACode(t *testing.T) {
	writes := map[string]func(n *node) error{
		"set":    func(n *node) error { _, err := n.Set("/w/n", []byte("b")).Do(context.Background()); return err },
		"delete": func(n *node) error { return n.Delete("/w/n").Do(context.Background()) },
		"create": func(n *node) error { _, err := n.Create("/w/m", nil).Do(context.Background()); return err },
	}
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			answered(t, false, func(t *testing.T, w *world, code zkmem.Code, done bool) {
				n := w.open()
				w.srv.Create("/w", nil, zkmem.Persistent)
				w.srv.Create("/w/n", nil, zkmem.Persistent)
				w.answer("/w/", code, done, 1)
				err := write(n)
				if unknown := errors.Is(err, incumbent.ErrOutcomeUnknown); err == nil || unknown == proving[code] {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

// An addition is done once, or the error says that it is not known whether it was.
func TestAnAdditionAnsweredWithACode(t *testing.T) {
	answered(t, false, func(t *testing.T, w *world, code zkmem.Code, done bool) {
		n := w.open()
		number, err := n.AtomicLong("/n", incumbent.AtomicLongOptions{})
		fine(t, err)
		_, err = number.Add(t.Context(), 1)
		fine(t, err)
		w.answer("/n", code, done, 1)
		_, err = number.Add(t.Context(), 10)
		value, readErr := number.Get(t.Context())
		fine(t, readErr)
		switch {
		case errors.Is(err, incumbent.ErrOutcomeUnknown):
			if !done {
				t.Errorf("nothing was written, and nothing is known: %v", err)
			}
		case (value == 11) != (err == nil):
			t.Errorf("%d, and the call returned %v", value, err)
		}
	})
}

// A server that always answers so gets few requests.
func TestNoStormOfAnswersWithACode(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		w.answer("/", -7, false, 1<<30)
		latch, err := n.Latch("/l", incumbent.LatchOptions{})
		fine(t, err)
		fine(t, latch.Start())
		pass(10 * time.Minute)
		if got := w.srv.Counts().ByOp[zkmem.OpCreate]; got > 400 {
			t.Errorf("%d creates", got)
		}
		if latch.Err() == nil {
			t.Error("no error says so")
		}
	})
}
