package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// neighbour is a program without this library that shares the lock, as go-zookeeper's Lock does, or a fork of it: the
// names are theirs. Nothing disturbs its network, so it never believes what is not so.
type neighbour struct {
	w    *world
	name string
	dice dice
	conn *zk.Conn

	mu     sync.Mutex
	own    string    // its node, while it holds the lock
	queued time.Time // since when it waits; zero: it does not
}

// neighbourNames are what precedes the number in their names, with a GUID in place of the %s.
var neighbourNames = []string{"_c_%s-lock-", "_c_%s-lock-", "lock-", "%s-lock-", "job7-lock-"}

// newNeighbours returns the neighbours of the world.
func (w *world) newNeighbours() (all []*neighbour) {
	for i := range w.plan.neighbours {
		all = append(all, &neighbour{w: w, name: fmt.Sprint("neighbour ", i),
			dice: w.dice.named("neighbour").about(uint64(i))})
	}
	return all
}

type silent struct{}

func (silent) Printf(string, ...any) {}

// run locks and unlocks until the context ends.
func (b *neighbour) run(ctx context.Context) {
	dial := func(string, string, time.Duration) (net.Conn, error) {
		here, there := net.Pipe()
		go b.w.srv.ServeConn(there)
		return here, nil
	}
	var err error
	if b.conn, _, err = zk.Connect([]string{"192.0.2.9:2181"}, b.w.plan.timeout, zk.WithDialer(dial),
		zk.WithLogger(silent{}), zk.WithLogInfo(false)); err != nil {
		panic(err)
	}
	defer b.conn.Close()
	for n := uint64(0); pause(ctx, b.dice.named("rest").about(n).between(time.Second, 5*time.Second)) &&
		b.w.busy(); n++ {
		d := b.dice.named("lock").about(n)
		b.setQueued(time.Now())
		own := b.enqueue(ctx, d)
		if own != "" && b.wait(ctx, own) {
			b.w.tell("%s has the lock, by %s", b.name, own)
			b.setHeld(own)
			b.w.look()
			pause(ctx, d.named("work").between(0, time.Second))
			b.setHeld("")
		}
		b.setQueued(time.Time{})
		b.leave()
	}
}

func (b *neighbour) setHeld(own string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.own = own
}

func (b *neighbour) setQueued(since time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queued = since
}

// enqueue creates a node, and returns its path; "" if it could not.
func (b *neighbour) enqueue(ctx context.Context, d dice) string {
	id := fmt.Sprintf("%016x%016x", uint64(d.named("high")), uint64(d.named("low")))
	if d.named("upper").chance(300) {
		id = strings.ToUpper(id)
	}
	prefix := strings.ReplaceAll(neighbourNames[d.named("name").below(len(neighbourNames))], "%s", id)
	for ctx.Err() == nil {
		path, err := b.conn.Create(lockDir+"/"+prefix, nil, zk.FlagEphemeralSequential, zk.WorldACL(zk.PermAll))
		switch {
		case err == nil:
			return path
		case errors.Is(err, zk.ErrNoNode):
			_, err = b.conn.Create(lockDir, nil, 0, zk.WorldACL(zk.PermAll))
		}
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return ""
		}
	}
	return ""
}

// sequence returns the number in a child's name.
func sequence(name string) int {
	n, err := strconv.Atoi(name[max(0, len(name)-10):])
	if err != nil {
		return -1
	}
	return n
}

// wait waits until no node has a lower number than the own one. It returns false if the own node is gone, or the
// context ends.
func (b *neighbour) wait(ctx context.Context, own string) bool {
	for ctx.Err() == nil {
		names, _, err := b.conn.Children(lockDir)
		slices.SortFunc(names, func(a, b string) int { return cmp.Compare(sequence(a), sequence(b)) })
		at := slices.Index(names, own[len(lockDir)+1:])
		switch {
		case err != nil:
			pause(ctx, 100*time.Millisecond)
			continue
		case at <= 0:
			return at == 0
		}
		_, _, changed, err := b.conn.GetW(lockDir + "/" + names[at-1])
		if err != nil {
			pause(ctx, 10*time.Millisecond)
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
	return false
}

// leave deletes all own nodes of the lock, also one whose creation was not answered.
func (b *neighbour) leave() {
	for range 100 {
		names, _, err := b.conn.Children(lockDir)
		left := err != nil && !errors.Is(err, zk.ErrNoNode)
		for _, name := range names {
			if node, there := b.w.truth.nodeAt(lockDir + "/" + name); !there || node.owner != b.conn.SessionID() {
				continue
			}
			if err := b.conn.Delete(lockDir+"/"+name, -1); err != nil && !errors.Is(err, zk.ErrNoNode) {
				left = true
			}
		}
		if !left {
			return
		}
		pause(context.Background(), 100*time.Millisecond)
	}
}

// holder returns the neighbour as one who believes, if it holds the lock.
func (b *neighbour) holder() (believer, bool) {
	b.mu.Lock()
	own := b.own
	b.mu.Unlock()
	node, there := b.w.truth.nodeAt(own)
	return believer{b.name, "has the lock", node.czxid}, there
}

// waits returns for how long the neighbour has waited.
func (b *neighbour) waits() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.queued.IsZero() {
		return 0
	}
	return time.Since(b.queued)
}

// granted checks in the calm that each client gets the lock, and that no neighbour waits without end.
func (w *world) granted() {
	bound := endsWithin*w.plan.timeout + pausesWithin
	for _, c := range w.clients {
		err := c.calls(context.Background(), bound, "Lock", func(ctx context.Context) error {
			hold, err := c.mutex.Lock(ctx)
			if err != nil {
				return err
			}
			return hold.Unlock(ctx)
		})
		if err != nil {
			w.fail("the lock is granted in the calm", "%s: %v", c.name, err)
		}
	}
	for _, b := range w.neighbours {
		if waited := b.waits(); waited > bound {
			w.fail("the lock is granted in the calm", "%s has waited for %s", b.name, waited)
		}
	}
}
