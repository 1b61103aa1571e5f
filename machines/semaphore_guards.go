package machines

import (
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// Guards of semaphores. Each reads the model and the event, and changes nothing.

// disagrees is a directory whose data say another limit, or something that is none.
func (s *semaphore) disagrees(ev events.Event) bool {
	limit, ok := ParseLimit(ev.Data)
	return !ok || limit != 0 && limit != s.limit
}

// scarce is a directory with too few permits left. Every child counts, as it
// does for Curator and kazoo.
func (s *semaphore) scarce(ev events.Event) bool {
	return ev.Stat != nil && int(ev.Stat.NumChildren)+s.permits > s.limit
}

// triesInVain is a try that finds too few.
func (s *semaphore) triesInVain(ev events.Event) bool { return s.tries && s.scarce(ev) }

// spare is a listing that leaves enough.
func (s *semaphore) spare(ev events.Event) bool {
	return !s.unlisted(ev) && len(ev.Children)+s.permits <= s.limit
}

// triesAnew is a try that has nothing in the line and may look.
func (s *semaphore) triesAnew(ev events.Event) bool {
	return s.latch == "" && s.tries && ev.Attached && !s.spent && s.then != leave && !s.entangled(ev)
}

// neverWaits is a try.
func (s *semaphore) neverWaits(events.Event) bool { return s.tries }

// lineOccupied is somebody in the line of locks.
func (s *semaphore) lineOccupied(ev events.Event) bool {
	for range places(ev.Children, s.lockLabel()) {
		return true
	}
	return false
}

// moot is a transaction that failed because the directory of the permits is not
// what it was, while the lock is held.
func (s *semaphore) moot(ev events.Event) bool {
	return s.held != "" && (ev.Code == events.BadVersion || ev.Code == events.NodeExists && !s.pool.there)
}

// outrun is a transaction that came too late: the lock's node, or the directory of
// the permits, is not what it was.
func (s *semaphore) outrun(ev events.Event) bool {
	return ev.Code == events.NoNode || ev.Code == events.BadVersion || ev.Code == events.NodeExists && !s.pool.there
}

// recovered is a listing with our permits.
func (s *semaphore) recovered(ev events.Event) bool {
	return ev.Code == events.OK && len(s.among(ev.Children)) > 0
}

// stillHeld is a lock that was not given up: the transaction was not carried out.
func (s *semaphore) stillHeld(ev events.Event) bool { return s.held != "" }

// mayHold is ours with all that belief needs besides.
func (s *semaphore) mayHold(ev events.Event) bool { return s.ours(ev) && confirmed(ev) }

// lasting is a failure of the latch that does not pass by itself, or one too many
// for the retry policy.
func (s *semaphore) lasting(ev events.Event) bool {
	_, again := s.retry.Next(s.failures, time.Duration(ev.At-s.failedAt), 0)
	return !ev.Code.Passing() || !again
}

// indebted is an acquisition that has, or may have, permits.
func (s *semaphore) indebted(ev events.Event) bool { return len(s.names) > 0 || s.entangled(ev) }

// unbound is an acquisition that has no permits.
func (s *semaphore) unbound(ev events.Event) bool { return !s.indebted(ev) }

// tied is an acquisition that has permits, or a latch.
func (s *semaphore) tied(ev events.Event) bool { return s.indebted(ev) || s.latches > 0 }

// bound is an acquisition that is over, and has permits or a latch.
func (s *semaphore) bound(ev events.Event) bool { return s.then == leave && s.tied(ev) }

// among are our permits in a listing, in order.
func (s *semaphore) among(children []string) []string {
	if s.kazoo {
		own := slices.DeleteFunc(slices.Clone(children), func(name string) bool { return !slices.Contains(s.kazooNames(), name) })
		slices.Sort(own)
		return own
	}
	var own []string
	for _, place := range ofGUID(children, s.guid, LeaseLabel) {
		own = append(own, place.Name)
	}
	return own
}
