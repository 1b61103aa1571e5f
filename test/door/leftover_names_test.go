package door_test

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// namedAttempts are attempts to create a node whose name others can have, too, or that no session owns. Each ends when
// the context does.
var namedAttempts = map[string]struct {
	dir     string
	mode    zkmem.Mode // of the node
	attempt func(ctx context.Context, n *node) error
}{
	"election": {"/l", zkmem.EphemeralSequential, func(ctx context.Context, n *node) error {
		e := must(n.Election("/l", "n_", incumbent.LatchOptions{}))
		if err := e.Start(); err != nil {
			return err
		}
		<-ctx.Done()
		return e.Close(context.WithoutCancel(ctx))
	}},
	"plain mutex": {"/l", zkmem.EphemeralSequential, func(ctx context.Context, n *node) error {
		_, err := must(n.Mutex("/l", incumbent.MutexOptions{Plain: true, Prefix: "n_"})).Lock(ctx)
		return unless(err != nil)
	}},
	"persistent node": {"/l", zkmem.Ephemeral, func(ctx context.Context, n *node) error {
		return presentUntil(ctx, must(n.PersistentNode("/l/n", nil, incumbent.PersistentNodeOptions{})))
	}},
	"member": {"/l", zkmem.Ephemeral, func(ctx context.Context, n *node) error {
		return presentUntil(ctx, must(n.Membership("/l", "n", nil, incumbent.PersistentNodeOptions{})))
	}},
	"double barrier": {"/l", zkmem.Ephemeral, func(ctx context.Context, n *node) error {
		b := must(n.DoubleBarrier("/l", 2, incumbent.DoubleBarrierOptions{}))
		return unless(b.Enter(ctx) != nil && b.Close(context.WithoutCancel(ctx)) == nil)
	}},
	"protected create": {"/l", zkmem.EphemeralSequential, func(ctx context.Context, n *node) error {
		_, err := n.Create("/l/n", nil).Protected().Ephemeral().Sequential().Do(ctx)
		return unless(err != nil)
	}},
	"protected lasting create": {"/l", zkmem.Persistent, func(ctx context.Context, n *node) error {
		_, err := n.Create("/l/n", nil).Protected().Do(ctx)
		return unless(err != nil)
	}},
	"consumer": {"/l", zkmem.Ephemeral, func(ctx context.Context, n *node) error {
		q := must(incumbent.NewQueue(n.Client, "/q",
			incumbent.QueueOptions[string]{Codec: incumbent.Text(), LockPath: "/l"}))
		if err := q.Put(context.WithoutCancel(ctx), "x"); err != nil {
			return err
		}
		c := must(q.AtLeastOnce(func(context.Context, incumbent.Delivery[string]) error { return nil },
			incumbent.ConsumerOptions{}))
		if err := c.Start(); err != nil {
			return err
		}
		<-ctx.Done()
		return c.Close(context.WithoutCancel(ctx))
	}},
}

// presentUntil keeps a node until the context ends.
func presentUntil(ctx context.Context, p interface {
	Start() error
	Close(context.Context) error
}) error {
	if err := p.Start(); err != nil {
		return err
	}
	<-ctx.Done()
	return p.Close(context.WithoutCancel(ctx))
}

// refuseCreates answers each create in a directory by a code that says nothing, and returns the last path that was
// asked for.
func (w *world) refuseCreates(dir string) (asked *string, stop func()) {
	asked = new(string)
	return asked, w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
		created := (r.Op == zkmem.OpCreate || r.Op == zkmem.OpCreate2) && strings.HasPrefix(r.Path, dir+"/")
		if locked := r.Op == zkmem.OpMulti && strings.HasPrefix(r.Path, "/q/"); !created && !locked {
			return zkmem.Verdict{}
		}
		*asked = r.Path
		return zkmem.Verdict{Action: zkmem.Refuse, Code: -7}
	})
}

// A server carries out, later than any look of the machine, a create that it has answered by a code that says nothing.
// The attempt was given up, so the node is deleted, and the log says so. What the client has created for its user
// stays.
func TestALateNodeOfANameThatOthersCanHave(t *testing.T) {
	for name, c := range namedAttempts {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				var log bytes.Buffer
				n := w.open(func(c *incumbent.Config) { c.Logger = zerolog.New(&log) })
				w.srv.Create(c.dir, nil, zkmem.Persistent)
				before := must(n.Create(c.dir+"/before", nil).Ephemeral().Sequential().Do(t.Context()))
				var asked *string
				var stop func()
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if name == "consumer" {
					fine(t, must(incumbent.NewQueue(n.Client, "/q",
						incumbent.QueueOptions[string]{Codec: incumbent.Text(), LockPath: "/l"})).Put(t.Context(), "y"))
				}
				asked, stop = w.refuseCreates(c.dir)
				err := c.attempt(ctx, n)
				stop()
				fine(t, err)
				pass(time.Second)
				after := must(n.Create(c.dir+"/n_", nil).Ephemeral().Sequential().Do(t.Context()))
				late := *asked
				if name == "consumer" {
					late = c.dir + strings.TrimPrefix(late, "/q")
				}
				_, err = w.srv.DoFor(n.SessionID(),
					zkmem.Op{Code: zkmem.OpCreate2, Path: late, Mode: c.mode, ACL: zkmem.OpenACL()})
				fine(t, err)
				pass(bound)
				left := w.children(c.dir)
				if len(left) != 2 || !slices.Contains(left, path.Base(before)) ||
					!slices.Contains(left, path.Base(after)) {
					t.Errorf("%v are left, and the user's nodes are %s and %s", left, before, after)
				}
				if got := strings.Count(log.String(), "the server created it after all"); got != 1 {
					t.Errorf("%d lines say so:\n%s", got, log.String())
				}
			})
		})
	}
}
