package door_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// variation is what happens to the writes of a client, by their numbers, from 1 on.
type variation struct {
	answered func(write int) bool // by a code that says nothing
	late     bool                 // creates are carried out late, all others not at all
	then     func(w *world, n *node)
}

func cutOff(w *world, n *node) { w.srv.Disconnect(n.SessionID()) }
func expire(w *world, n *node) { w.srv.ExpireSession(n.SessionID()) }

func only(which int) func(int) bool { return func(write int) bool { return write == which } }

var variations = map[string]variation{
	"the second":         {answered: only(2)},
	"an expiry later":    {answered: only(2), then: expire},
	"the third":          {answered: only(3)},
	"the fourth":         {answered: only(4)},
	"the first three":    {answered: func(write int) bool { return write <= 3 }},
	"every other":        {answered: func(write int) bool { return write <= 8 && write%2 == 1 }},
	"then an expiry":     {answered: only(1), then: expire},
	"then a cut":         {answered: only(1), then: cutOff},
	"two, then a cut":    {answered: func(write int) bool { return write <= 2 }, then: cutOff},
	"late":               {answered: only(1), late: true},
	"the first two late": {answered: func(write int) bool { return write <= 2 }, late: true},
	"late, then a cut":   {answered: only(1), late: true, then: cutOff},
}

// vary answers writes of a client in or below a directory.
func (w *world) vary(n *node, dir string, v variation, done bool) (stop func()) {
	var writes atomic.Int64
	session := n.SessionID()
	return w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
		creates := r.Op == zkmem.OpCreate || r.Op == zkmem.OpCreate2
		writesNow := creates || r.Op == zkmem.OpDelete || r.Op == zkmem.OpSetData || r.Op == zkmem.OpMulti
		if !writesNow || r.Session != session || !strings.HasPrefix(r.Path, dir) {
			return zkmem.Verdict{}
		}
		if !v.answered(int(writes.Add(1))) {
			return zkmem.Verdict{}
		}
		if v.then != nil {
			time.AfterFunc(20*time.Millisecond, func() { v.then(w, n) })
		}
		if done && !v.late {
			return zkmem.Verdict{Action: zkmem.Misreport, Code: -7}
		}
		if v.late && creates {
			mode := zkmem.Ephemeral
			if strings.HasSuffix(r.Path, "-") || strings.HasSuffix(r.Path, "_") {
				mode = zkmem.EphemeralSequential
			}
			time.AfterFunc(400*time.Millisecond, func() {
				_, _ = w.srv.DoFor(session, zkmem.Op{Code: zkmem.OpCreate2, Path: r.Path, Mode: mode,
					ACL: zkmem.OpenACL()})
			})
		}
		return zkmem.Verdict{Action: zkmem.Refuse, Code: -7}
	})
}

// A client gets its place whatever of its writes is answered by a code that says nothing, also if its session or
// connection ends then, or a server creates its node later. When it has given its place back, none of its nodes is
// left, and another gets it.
func TestAPlaceInEveryVariation(t *testing.T) {
	gained := map[string]func(t *testing.T, n *node) func(){
		"latch": func(t *testing.T, n *node) func() {
			return leadsSoon(t,
				must(n.Latch("/l", incumbent.LatchOptions{})))
		},
		"plain": func(t *testing.T, n *node) func() {
			return holdsSoon(t, must(n.Mutex("/l", incumbent.MutexOptions{Plain: true, Prefix: "n_"})))
		},
	}
	for name, gain := range placesGained {
		gained[name] = gain
	}
	for _, name := range selection.Some(t, "places", 1, 2, slices.Sorted(maps.Keys(gained))) {
		gain := gained[name]
		for kind, v := range variations {
			for _, done := range []bool{true, false} {
				if v.late && done {
					continue
				}
				t.Run(name+"/"+kind+map[bool]string{true: "/done"}[done], func(t *testing.T) {
					bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
						n, other := w.open(), w.open()
						fine(t, n.WaitConnected(t.Context()))
						foreign := must(other.Create("/elsewhere", nil).Ephemeral().Do(t.Context()))
						stop := w.vary(n, "/l/", v, done)
						back := gain(t, n)
						back()
						stop()
						pass(time.Second) // the session that may end has ended
						mine := must(n.Create("/mine", nil).Ephemeral().Do(t.Context()))
						gain(t, other)()
						pass(2 * bound)
						tree := w.srv.Snapshot()
						left := slices.Concat(tree.Ephemerals(n.SessionID()), tree.Ephemerals(other.SessionID()))
						if len(left) != 2 || !slices.Contains(left, foreign) || !slices.Contains(left, mine) {
							t.Errorf("%v are left, and %s and %s were created by hand", left, mine, foreign)
						}
					})
				})
			}
		}
	}
}

// varied are further calls that write once.
var varied = map[string]func(t *testing.T, n *node) (call func(ctx context.Context) error, times func(w *world) int){
	"add": func(t *testing.T, n *node) (func(context.Context) error, func(*world) int) {
		number := must(n.AtomicLong("/l/n", incumbent.AtomicLongOptions{}))
		_, err := number.Add(t.Context(), 1)
		fine(t, err)
		return func(ctx context.Context) error { _, err := number.Add(ctx, 10); return err },
			func(*world) int { return int(must(number.Get(t.Context())) / 10) }
	},
	"multi": func(t *testing.T, n *node) (func(context.Context) error, func(*world) int) {
		return func(ctx context.Context) error {
			_, err := n.Multi(incumbent.CreateNode("/l/a", nil), incumbent.CreateNode("/l/b", nil)).Do(ctx)
			return err
		}, func(w *world) int { return len(w.children("/l")) / 2 }
	},
	"put": func(t *testing.T, n *node) (func(context.Context) error, func(*world) int) {
		q := must(incumbent.NewQueue(n.Client, "/l", incumbent.QueueOptions[string]{Codec: incumbent.Text()}))
		return func(ctx context.Context) error { return q.Put(ctx, "x") },
			func(w *world) int { return len(w.children("/l")) }
	},
	"protected": func(t *testing.T, n *node) (func(context.Context) error, func(*world) int) {
		return func(ctx context.Context) error {
			_, err := n.Create("/l/p-", nil).Protected().Sequential().Do(ctx)
			return err
		}, func(w *world) int { return len(w.children("/l")) }
	},
	"parents": func(t *testing.T, n *node) (func(context.Context) error, func(*world) int) {
		return func(ctx context.Context) error {
			_, err := n.Create("/l/x/y/z-", nil).Sequential().Parents().Do(ctx)
			return err
		}, func(w *world) int { return len(w.children("/l/x/y")) }
	},
	"evict": func(t *testing.T, n *node) (func(context.Context) error, func(*world) int) {
		leadsSoon(t, must(n.w.open().Latch("/l", incumbent.LatchOptions{}))) // another's: n's session may end
		line := must(n.Line(t.Context(), "/l"))
		return func(ctx context.Context) error { return n.Evict(ctx, line.Participants[0]) },
			func(w *world) int {
				if w.srv.Snapshot().Exists(line.Participants[0].Path) {
					return 0
				}
				return 1
			}
	},
}

// No write is carried out twice, and the error says that it was not only if that is so.
func TestAWriteInEveryVariation(t *testing.T) {
	for _, name := range selection.Some(t, "calls", 2, 3, slices.Sorted(maps.Keys(varied))) {
		prepare := varied[name]
		for kind, v := range variations {
			for _, done := range []bool{true, false} {
				if v.late {
					continue
				}
				t.Run(name+"/"+kind+map[bool]string{true: "/done"}[done], func(t *testing.T) {
					bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
						n := w.open()
						fine(t, n.WaitConnected(t.Context()))
						w.srv.Create("/l", nil, zkmem.Persistent)
						call, times := prepare(t, n)
						stop := w.vary(n, "/l", v, done)
						ctx, cancel := context.WithTimeout(t.Context(), bound)
						defer cancel()
						err := call(ctx)
						stop()
						pass(bound)
						got := times(w)
						if got > 1 || err == nil && got != 1 || err != nil &&
							!errors.Is(err, incumbent.ErrOutcomeUnknown) && got != 0 {
							t.Errorf("done %d times, and the call returned %v", got, err)
						}
					})
				})
			}
		}
	}
}
