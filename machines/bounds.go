package machines

import "time"

// Bounds are the times that follow from a session timeout and from what is known of the ensemble, as the session
// machine counts with them.
type Bounds struct {
	First     time.Duration // how long belief holds after the first confirmation; nobody can lead if it is not above 0
	Later     time.Duration // the same when heartbeats have run for a third of the timeout
	Heartbeat time.Duration // between two heartbeats, at most
	BySync    bool          // a heartbeat is a sync, and each fourth a write; else each is a write
	Outlast   time.Duration // by how much belief can outlast the session after two faults of servers in a row, at most
	Vacant    time.Duration // within which somebody leads after the last processed request of a leader that died
}

// BoundsOf returns the bounds for a session timeout, a tick, a syncLimit in ticks, and observer masters or none.
func BoundsOf(timeout, tick time.Duration, syncLimit int, observerMasters bool) Bounds {
	s := timing{timeout: timeout, tick: tick, syncLimit: syncLimit, observerMasters: observerMasters}
	b := Bounds{First: s.beliefSpan(0, 0), Heartbeat: s.period(), BySync: s.bySync(), Vacant: timeout + 2*tick}
	s.since = 1
	b.Later = s.beliefSpan(s.since+int64(timeout), 0)
	b.Outlast = max(0, s.maxSilence()+b.Later-(timeout-s.period()-s.lag()))
	return b
}
