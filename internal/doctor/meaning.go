package doctor

import (
	"fmt"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/machines"
)

// Meaning is what follows for a client of this library with these settings.
type Meaning struct {
	Asked        Millis  `json:"askedTimeoutMs"`
	Timeout      Millis  `json:"timeoutMs"`                // the shortest that a server grants
	Tick         Millis  `json:"tickMs"`                   // that the client counts with
	EnsembleTick Millis  `json:"ensembleTickMs,omitempty"` // the largest of the servers
	TickFrom     string  `json:"ensembleTickFrom,omitempty"`
	First        Millis  `json:"firstBeliefMs"` // how long belief holds after the first confirmation
	Later        Millis  `json:"laterBeliefMs"` // and after a third of the timeout
	Heartbeat    Millis  `json:"heartbeatMs"`
	BySync       bool    `json:"heartbeatIsSync"`
	Vacant       Millis  `json:"vacantAfterKillMs"`           // nobody leads, at most
	VacantLeast  Millis  `json:"vacantAfterCutLeastMs"`       // and after a cut, at least
	Outlast      Millis  `json:"outlastMs"`                   // after two faults of servers in a row, at most
	Planned      *Millis `json:"vacantAfterStopMs,omitempty"` // on a planned stop, as it was measured
	Standalone   bool    `json:"standalone,omitempty"`
	Elections    int     `json:"elections"`
	PerSecond    float64 `json:"heartbeatsPerSecond"` // if each election has two clients of its own

	Set []Setting `json:"set"`
}

// Setting is what a setting of incumbent.Config has to be.
type Setting struct {
	Name string `json:"name"`
	To   string `json:"to"`
	Must bool   `json:"must"` // it is unsafe otherwise
	Why  string `json:"why"`
}

// granted returns the shortest timeout that a server grants for what a client asks.
func (f *Facts) granted() time.Duration {
	least := time.Duration(0)
	for _, v := range f.ours() {
		if g := time.Duration(v.Granted.Asked); least == 0 || g < least {
			least = g
		}
	}
	return least
}

// counted returns the tick that a client counts with, when it has seen what all servers grant.
func (f *Facts) counted() time.Duration {
	tick := f.settings.tick()
	if f.settings.Tick != 0 {
		return tick
	}
	for _, v := range f.ours() {
		tick = machines.LargerTick(tick, f.settings.Timeout, time.Duration(v.Granted.Asked))
	}
	return tick
}

// tickOf returns a server's tick: what it says, or what follows from its limits of session timeouts if they are those
// of a server that sets none, two and twenty ticks. Said reports that the server says it.
func (v *Server) tickOf() (tick time.Duration, from string, said bool) {
	switch {
	case v.Settings.From != "":
		return time.Duration(v.Settings.Tick), v.Settings.From, true
	case v.Granted != nil && v.Granted.Least > 0 && v.Granted.Most == 10*v.Granted.Least:
		return time.Duration(v.Granted.Least) / 2, "the least and the longest session timeout, if both are the " +
			"defaults of two and twenty ticks", false
	}
	return 0, "", false
}

// ensembleTick returns the largest tick of the servers; 0 if none is known.
func (f *Facts) ensembleTick() (largest time.Duration, from string, said bool) {
	for _, v := range f.ours() {
		if tick, source, sure := v.tickOf(); tick > largest {
			largest, from, said = tick, source, sure
		}
	}
	return largest, from, said
}

// syncLimit returns the largest syncLimit of the servers; 0 if none is known.
func (f *Facts) syncLimit() int {
	largest := 0
	for _, v := range f.ours() {
		largest = max(largest, int(v.Settings.SyncLimit))
	}
	return largest
}

// observerMaster returns a server that is one; nil if none is known to be.
func (f *Facts) observerMaster() *Server {
	for _, v := range f.ours() {
		if v.observers > 0 {
			return v
		}
	}
	return nil
}

// bounds returns the times that a client counts with.
func (f *Facts) bounds() machines.Bounds {
	return machines.BoundsOf(f.granted(), f.counted(), f.settings.SyncLimit, f.settings.ObserverMasters)
}

func meaningOf(f *Facts) *Meaning {
	b, timeout := f.bounds(), f.granted()
	tick, from, said := f.ensembleTick()
	m := &Meaning{Asked: Millis(f.settings.Timeout), Timeout: Millis(timeout), Tick: Millis(f.counted()),
		EnsembleTick: Millis(tick), TickFrom: from, First: Millis(b.First), Later: Millis(b.Later),
		Heartbeat: Millis(b.Heartbeat), BySync: b.BySync, Elections: f.settings.Elections, Set: []Setting{},
		Outlast: Millis(b.Outlast)}
	if f.deep != nil && f.deep.Watch != nil {
		m.Planned = &f.deep.Watch.Median
	}
	m.Standalone = slices.ContainsFunc(f.ours(), func(v *Server) bool { return v.Role == roleStandalone })
	if !said {
		tick = max(tick, f.counted())
	}
	m.Vacant = Millis(machines.BoundsOf(timeout, tick, f.settings.SyncLimit, f.settings.ObserverMasters).Vacant)
	m.VacantLeast = Millis(timeout - max(b.First, b.Later))
	m.PerSecond = 2 * float64(f.settings.Elections) / b.Heartbeat.Seconds()
	if said {
		m.setTick(f, tick)
	}
	m.setSyncLimit(f)
	m.setMaxAnswer(f)
	if v := f.observerMaster(); v != nil && !f.settings.ObserverMasters {
		m.Set = append(m.Set, Setting{"Config.ObserverMasters", "true", true, v.Address + " is an observer master"})
	}
	return m
}

func (m *Meaning) setTick(f *Facts, tick time.Duration) {
	set := Setting{Name: "Config.Tick", To: tick.String()}
	switch {
	case tick > f.counted():
		set.Must, set.Why = true, "the servers' tick is longer than the one that the client counts with"
	case f.settings.Tick == 0 && tick < f.counted():
		now, then := f.bounds(), machines.BoundsOf(f.granted(), tick, f.settings.SyncLimit, f.settings.ObserverMasters)
		if then.First <= now.First && then.Later <= now.Later {
			return
		}
		set.Why = fmt.Sprintf("the client assumes %s; with %s, belief at first: %s (now %s), and heartbeats are "+
			"%s apart (now %s)",
			f.counted(), tick, lasting(then.First), lasting(now.First), short(then.Heartbeat), short(now.Heartbeat))
	default:
		return
	}
	m.Set = append(m.Set, set)
}

func (m *Meaning) setSyncLimit(f *Facts) {
	if limit := f.syncLimit(); limit > f.settings.SyncLimit {
		m.Set = append(m.Set, Setting{"Config.SyncLimit", itoa(limit), m.BySync, "that of the servers is " +
			itoa(limit)})
	}
}

// setMaxAnswer has an answer as large as that of the largest line fit well.
func (m *Meaning) setMaxAnswer(f *Facts) {
	largest := 0
	for _, l := range f.lines {
		largest = max(largest, l.ListingBytes)
	}
	if largest > f.settings.MaxAnswer/2 {
		m.Set = append(m.Set, Setting{"Config.MaxAnswer", itoa(roomFor(largest)), largest > f.settings.MaxAnswer,
			fmt.Sprintf("a listing of a line has %d bytes, and may grow", largest)})
	}
}

// roomFor returns the Config.MaxAnswer for a listing of so many bytes.
func roomFor(listing int) int { return 4 * listing }

// lasting says how long belief lasts.
func lasting(d time.Duration) string {
	if d <= 0 {
		return "not at all"
	}
	return short(d)
}
