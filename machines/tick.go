package machines

import (
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// The ensemble's tick, as far as a client knows it.

// DefaultTick is the tick that is assumed if none is configured. It is that of a server without a
// tickTime; the 2 s in many ensembles come from ZooKeeper's sample file.
const DefaultTick = 3 * time.Second

// MaxTick is the largest tick that can be configured or learned: products with it do not overflow.
const MaxTick = 24 * time.Hour

// LargerTick returns the tick that a granted session timeout suggests if that is larger than tick, and
// tick otherwise. A server grants more than was asked if its least is more. That is two ticks, unless
// minSessionTimeout is set. If asked is 0, it is not known, and nothing follows.
func LargerTick(tick, asked, granted time.Duration) time.Duration {
	if asked == 0 || granted <= asked {
		return tick
	}
	return max(tick, min(granted/2, MaxTick))
}

// ReportLag returns how long a server may take to report a session that it has heard of to the
// ensemble's leader: the leader's ping, which fetches the reports, goes out every half tick. A server
// behind an observer master reports to that one first, at the observer master's own ping.
func ReportLag(tick time.Duration, observerMasters bool) time.Duration {
	if observerMasters {
		return tick
	}
	return tick / 2
}

// ShortestTimeout returns the shortest session timeout, in whole milliseconds, that leaves time for
// belief.
func ShortestTimeout(tick time.Duration, observerMasters bool) time.Duration {
	s := timing{tick: tick, observerMasters: observerMasters}
	// T − T/3 − T/40 − lag > 0
	s.timeout = (s.lag() * 120 / 77).Truncate(time.Millisecond)
	for s.room() <= 0 {
		s.timeout += time.Millisecond
	}
	return s.timeout
}

// FirstBelief returns how long belief lasts at most after the first confirmation of a session with
// this timeout. If it is not above 0, nobody can lead under the session.
func FirstBelief(timeout, tick time.Duration, observerMasters bool) time.Duration {
	s := timing{timeout: timeout, tick: tick, observerMasters: observerMasters}
	return min(timeout/2, s.room())
}

// learnTick draws what follows from a granted timeout that is larger than the one asked for. A tick
// that was assumed grows, and stays so for the client's whole life: another server may grant what was
// asked, by its own settings. A configured tick stays as it is. It reports whether the tick grew.
func (t *timing) learnTick(timeout time.Duration, session int64, out *engine.Outbox) (grew bool) {
	larger := LargerTick(t.tick, t.asked, timeout)
	if larger == t.tick || t.tickDoubted {
		return false
	}
	granted := fmt.Sprintf("the server granted a session timeout of %s, more than the %s that were asked for: its "+
		"tickTime is %s, unless its minSessionTimeout is set", timeout, t.asked, timeout/2)
	if !t.tickAssumed {
		t.tickDoubted = true
		out.Notify(events.Notify{What: events.Warning, Session: session, Text: fmt.Sprintf(
			"%s. But Config.Tick is %s, and too small a value there is unsafe: set it to the ensemble's tickTime",
			granted, t.tick)})
		return false
	}
	out.Notify(events.Notify{What: events.Warning, Session: session, Text: fmt.Sprintf(
		"%s. From now on a tick of %s is assumed instead of %s: set Config.Tick to the ensemble's tickTime", granted,
		larger, t.tick)})
	t.tick, t.tickLearned = larger, true
	return true
}

// tooShort returns what is wrong with a granted timeout that leaves no time for belief.
func (t *timing) tooShort() string {
	source := "that is configured"
	switch {
	case t.tickLearned:
		source = "that was learned from a granted timeout"
	case t.tickAssumed:
		source = "that is assumed by default"
	}
	return fmt.Sprintf("the server granted a session timeout of %s, too short to lead safely with the tick of %s %s: "+
		"set Config.Tick to the ensemble's tickTime, or ask for a session timeout of %s or more",
		t.timeout, t.tick, source, ShortestTimeout(t.tick, t.observerMasters))
}
