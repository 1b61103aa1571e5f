//go:build linux

package chaos

import (
	"path"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/machines"
)

// settled reports whether a line is at rest: everybody in it has one place, nobody else has any, and somebody holds
// what it is for. A queue is at rest when it is empty and nobody puts. In a job election one sealed marker is there,
// and nobody queues.
func (s *stage) settled(o *outcome) bool {
	if !s.listed(o) {
		return false
	}
	switch o.kind {
	case byQueue:
		o.surplus, o.missing = len(o.seen), 0
		return len(o.seen) == 0 && s.idle(o.kind)
	case byJob:
		o.surplus, o.missing = max(0, len(o.seen)-2), max(0, 2-len(o.seen))
		_, marked := o.seen[machines.JobMarker(o.kind.path())]
		return marked && len(o.seen) == 2 && s.leader(o.kind) != nil
	case byShards:
		return o.surplus == 0 && o.missing == 0 && s.shared()
	}
	return o.surplus == 0 && o.missing == 0 && s.leader(o.kind) != nil
}

// shared reports whether each shard has one owner, and each member its share.
func (s *stage) shared() bool {
	owners := map[int]int{}
	for _, one := range s.slots {
		one.mu.Lock()
		parts := one.hands[byShards].parts()
		one.mu.Unlock()
		for _, part := range parts {
			owners[part]++
		}
		if more := len(parts) - shardCount/slots; more < -1 || more > 1 {
			return false
		}
	}
	for part := range shardCount {
		if owners[part] != 1 {
			return false
		}
	}
	return true
}

// idle reports whether no client of a queue puts.
func (s *stage) idle(k kind) bool {
	return !slices.ContainsFunc(s.slots, func(one *slot) bool {
		one.mu.Lock()
		defer one.mu.Unlock()
		return !one.hands[k].isIdle()
	})
}

// listed notes the nodes of a line, how many places are there that are not a client's one, and how many clients have
// none.
func (s *stage) listed(o *outcome) bool {
	o.seen, o.seenAt = map[string]int64{}, monotonic()
	if _, err := s.operator.Sync(o.kind.path()); err != nil { // else a server that lags shows what was deleted before
		return false
	}
	paths, err := s.nodes(o.kind)
	if err != nil {
		return false
	}
	want := map[string]bool{}
	for _, one := range s.slots {
		one.mu.Lock()
		want[one.hands[o.kind].id] = true
		one.mu.Unlock()
	}
	places := map[int64]string{} // by czxid: the permits of one hold have one
	for _, p := range paths {
		data, stat, err := s.operator.Get(p)
		if err != nil {
			return false
		}
		o.seen[p] = stat.Czxid
		if o.kind != byShards || path.Dir(p) == o.kind.places() { // a member may also queue to assign
			places[stat.Czxid] = o.kind.idIn(data)
		}
	}
	o.surplus = len(places)
	for _, id := range places {
		if want[id] {
			delete(want, id)
			o.surplus--
		}
	}
	o.missing = len(want)
	return true
}

// nodes returns the paths of a line's nodes, without its directories.
func (s *stage) nodes(k kind) (paths []string, err error) {
	for _, dir := range k.dirs() {
		names, _, err := s.operator.Children(dir)
		if err != nil && err != zk.ErrNoNode {
			return nil, err
		}
		for _, name := range names {
			if p := dir + "/" + name; !slices.Contains(k.dirs(), p) {
				paths = append(paths, p)
			}
		}
	}
	return paths, nil
}

// markers returns how many producers' markers are there: those that were killed leave theirs.
func (s *stage) markers() (count int) {
	names, _, err := s.operator.Children(machines.ProducersOf(byQueue.items()))
	if err != nil && err != zk.ErrNoNode {
		s.t.Error(err)
	}
	return len(names)
}

// killed returns how many clients of a line were killed.
func (s *stage) killed(k kind) (count int) {
	for _, h := range s.past[k] {
		if h.said.killed {
			count++
		}
	}
	return count
}
