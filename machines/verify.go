package machines

import (
	"errors"
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/engine"
)

// These models have parts that could contradict each other if somebody changed a checkpoint by hand.
var (
	_ engine.Verifier = (*session)(nil)
	_ engine.Verifier = (*semaphore)(nil)
	_ engine.Verifier = (*treeCache)(nil)
)

// Bounds of a session's settings, far above any ensemble's. Sums of them do not overflow.
const (
	maxTick      = time.Hour
	maxTimeout   = 1000 * time.Hour
	maxSyncLimit = 1_000_000
)

// Verify returns an error if the settings are out of bounds, or the heartbeats' index is wrong.
func (s *session) Verify() error {
	switch {
	case s.tick < 0 || s.tick > maxTick:
		return fmt.Errorf("its tick is %s: want at most %s", s.tick, maxTick)
	case s.asked < 0 || s.asked > maxTimeout || s.timeout < 0 || s.timeout > maxTimeout:
		return fmt.Errorf("its timeouts are %s and %s: want at most %s", s.asked, s.timeout, maxTimeout)
	case s.syncLimit < 0 || s.syncLimit > maxSyncLimit:
		return fmt.Errorf("its syncLimit is %d: want at most %d", s.syncLimit, maxSyncLimit)
	}
	return s.heartbeats.verify()
}

func (o *heartbeatSet) verify() error {
	if len(o.index) != len(o.entries) || o.nextIndex < 0 || o.nextIndex > len(o.entries) {
		return fmt.Errorf("it has %d heartbeats with an index of %d, and the next is %d", len(o.entries), len(o.index),
			o.nextIndex)
	}
	for i, h := range o.entries {
		if at, ok := o.index[h.machine]; !ok || at != i {
			return fmt.Errorf("the heartbeat of %.40q is not at its index", h.machine)
		}
	}
	return nil
}

// Verify returns an error if no acquisition wants that many permits.
func (s *semaphore) Verify() error {
	if s.permits < 1 || s.permits > MaxPermits || s.limit < s.permits || len(s.names) > MaxPermits {
		return fmt.Errorf("it wants %d of %d permits and has %d: want at most %d", s.permits, s.limit, len(s.names),
			MaxPermits)
	}
	return nil
}

// Verify returns an error if the nodes are no tree, or a read is about none of them.
func (t *treeCache) Verify() error {
	if t.root == nil || t.root.parent != nil || t.root.level != 0 || t.root.path != t.path {
		return errors.New("the tree has no root")
	}
	in := map[*cachedNode]bool{t.root: true}
	for rest := []*cachedNode{t.root}; len(rest) > 0; rest = rest[1:] {
		b := rest[0]
		for i, kid := range b.children {
			switch {
			case kid == nil, in[kid], kid.parent != b, kid.level != b.level+1, kid.path != join(b.path, kid.name()):
				return fmt.Errorf("a child of %.40q is not at its place in the tree", b.path)
			case i > 0 && b.children[i-1].name() >= kid.name():
				return fmt.Errorf("the children of %.40q are out of order", b.path)
			}
			in[kid] = true
		}
		rest = append(rest, b.children...)
	}
	for _, reads := range [][]read{t.due, t.inFlight} {
		for _, r := range reads {
			if r.of == nil || !in[r.of] && (!r.of.dead || len(r.of.children) > 0) {
				return errors.New("a read is about no node of the tree")
			}
		}
	}
	return nil
}
