package incumbent

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/internal/clock"
	"github.com/incumbent-go/incumbent/internal/handles"
	"github.com/incumbent-go/incumbent/internal/journal"
	"github.com/incumbent-go/incumbent/internal/meters"
	"github.com/incumbent-go/incumbent/zkio"
)

// Stats is what a client has counted since Open, and how it is at this moment: see
// Client.Stats. All counters only grow.
type Stats struct {
	Connection ConnectionState
	Session    int64         // the number of the present ZooKeeper session, from 1; 0 before the first connection
	SessionID  int64         // ZooKeeper's id of it, 0 before the first connection
	Granted    time.Duration // as Client.SessionTimeout
	// Budget is how long belief lasts at most after the sending of a request that confirms it;
	// 0 before the first connection. If it is below 0, nobody can lead with this timeout.
	Budget time.Duration

	// OtherHistories counts sessions that began with a lower zxid than this client had seen before: its addresses lead
	// to another ensemble, or the ensemble was restored or wiped. The log has a warning for each.
	OtherHistories uint64

	// Attached, Suspended, Lost and Refused count connections that a server confirmed, that were
	// lost, sessions that ended or must be assumed to be over, and attempts that failed.
	Attached, Suspended, Lost, Refused uint64

	Handles []HandleStats // of participants that have started and not closed, by path and ID
	Phases  []PhaseStats  // how many handles of any recipe are in which state
	Terms   []TermStats   // how many terms ended, by path, recipe and reason
	Recipes []RecipeStats // how long terms and takeovers lasted

	Heartbeats       []HeartbeatStats
	HeartbeatsFailed uint64    // that confirmed nothing
	Margin           Histogram // the share of Budget that was left when a heartbeat was answered

	Requests []RequestStats
	Queues   []QueueStats // of queues that this client has consumers of

	Lanes []LaneStats // of the present session: "urgent", "delete", "normal", in the order of sending

	Inbox   int           // events that wait for the loop
	LoopLag Histogram     // how long the first event of each batch waited for the loop, in seconds
	Pauses  uint64        // times in which this process did not run
	Paused  time.Duration // their sum

	Recording     Recording
	EventsDropped uint64 // Config.Observe was too slow for them
	CallsDropped  uint64 // calls of listeners, OnConnection and OnFailure that were too slow for them
	LinesDropped  uint64 // Config.Logger was too slow for them

	CertificateEnd time.Time // when the client's own certificate in TLS ends; zero if it has none

	Version, Go string // of this library, and of Go
}

// HandleStats is one participant: a latch, a selector, an election, or a lock that is held or
// waited for.
type HandleStats struct {
	Path, Recipe, ID string
	Phase            string // as Phase of the handle
	Holds            bool   // it is a lock, or permits, that one caller holds or waits for
	Leads            bool   // as HasLeadership; a member of shards never leads
	Owned            int    // the shards of a member, as Shards.Owned
	Token            int64  // of the term; 0 if there is none
	Began            time.Time
	ValidFor         time.Duration // how long belief lasts without another confirmation; 0 if there is none
	Draining         time.Duration // how long work goes on after it had to end; 0 if none does
	Err              error         // as Err of the handle
}

// PhaseStats is how many handles of a recipe are in one state.
type PhaseStats struct {
	Recipe, Phase string
	Count         int
}

// TermStats is how many terms ended for one reason. The path is empty for locks, and "other"
// after the first 1000 paths.
type TermStats struct {
	Path, Recipe string
	Reason       Reason
	Count        uint64
}

// RecipeStats has how long the terms of a recipe lasted, and how long it took from the deletion of
// the node ahead until the term began. Both are in seconds.
type RecipeStats struct {
	Recipe        string
	Led, Takeover Histogram
}

// HeartbeatStats has the answers that confirmed belief, in seconds from the sending. Strength is
// "sync", "check", or "write": another request that the quorum committed.
type HeartbeatStats struct {
	Strength string
	Took     Histogram
}

// RequestStats has the answers to one operation: "create", "delete", "read", "list", "multi" or
// "sync". Refused are errors of the ensemble, which may be usual: a node is missing, or exists
// already. Lost have no answer. Took is in seconds, of those with an answer.
type RequestStats struct {
	Operation         string
	OK, Refused, Lost uint64
	Took              Histogram
}

// LaneStats is how many requests of a lane wait to be sent, and how many of those that were sent
// have no answer yet. Heartbeats are urgent; the deletions of own nodes have a lane, too.
type LaneStats struct {
	Lane             string
	Waiting, Pending int
}

// QueueStats is one queue as this client's consumers see it. Took is how long the handler took, in
// seconds.
type QueueStats struct {
	Path                    string
	Items                   int           // in the last listing, less those that were done since
	Oldest                  time.Duration // since this client first saw the item that was put first; 0 for a DelayQueue
	Done, Failed, Withdrawn uint64        // deliveries, by how they ended
	Took                    Histogram
}

// Stats returns what the client has counted since Open. It does not wait for the loop, and takes
// time in proportion to the number of handles.
func (c *Client) Stats() Stats {
	c.opened()
	m := &c.meters
	s := Stats{
		Connection: c.Connection(), SessionID: c.SessionID(), Granted: c.SessionTimeout(),
		Attached: m.Connection[0].Load(), Suspended: m.Connection[1].Load(), Lost: m.Connection[2].Load(),
		Refused: m.Connection[3].Load(), HeartbeatsFailed: m.Unconfirmed.Load(), Margin: Histogram(m.Margin.Read()),
		Inbox: c.core.Loop.Waiting(), LoopLag: Histogram(m.Lag.Read()), Recording: c.Recording(),
		EventsDropped: c.observed.dropped.Load(), CallsDropped: c.callsDropped.Load(),
		LinesDropped: c.core.Log.Dropped.Load(),
		Version:      version(), Go: runtime.Version(),
	}
	_, s.CertificateEnd = c.core.IO.Certificate()
	if s.Session = c.core.Attached().Session; s.Session != 0 {
		s.Budget = c.core.Budget()
	}
	for i, h := range m.Heartbeats {
		s.Heartbeats = append(s.Heartbeats, HeartbeatStats{meters.Strengths[i], Histogram(h.Read())})
	}
	for i := range m.Requests {
		r := &m.Requests[i]
		s.Requests = append(s.Requests, RequestStats{meters.Operations[i], r.OK.Load(), r.Refused.Load(), r.Lost.Load(),
			Histogram(r.Took.Read())})
	}
	for i, lane := range c.core.IO.Lanes() {
		s.Lanes = append(s.Lanes, LaneStats{zkio.LaneNames[i], lane.Waiting, lane.Pending})
	}
	s.OtherHistories = c.core.IO.OtherHistories()
	s.addRare(m.Rare(c.core.Clock.Now()))
	c.readHandles(&s)
	return s
}

// addRare adds what is counted under a lock.
func (s *Stats) addRare(rare meters.Rare) {
	s.Pauses, s.Paused = rare.Pauses, rare.Paused
	for _, t := range rare.Terms {
		s.Terms = append(s.Terms, TermStats{t.Path, t.Recipe, Reason(t.Reason), t.Count})
	}
	for _, r := range rare.Recipes {
		s.Recipes = append(s.Recipes, RecipeStats{r.Recipe, Histogram(r.Led), Histogram(r.Takeover)})
	}
	for _, q := range rare.Queues {
		s.Queues = append(s.Queues, QueueStats{q.Path, q.Items, q.Oldest, q.Done, q.Failed, q.Withdrawn,
			Histogram(q.Took)})
	}
}

// readHandles reads the state of all handles.
func (c *Client) readHandles(s *Stats) {
	phases := map[PhaseStats]int{}
	for id, r := range c.handles.All() {
		if phase := r.Phase(); phase != "" {
			phases[PhaseStats{Recipe: handles.Recipe(id), Phase: phase}]++
		}
		if p := r.asParticipant(); p != nil && p.State() == Started {
			s.Handles = append(s.Handles, p.stats())
		}
	}
	for phase, n := range phases {
		phase.Count = n
		s.Phases = append(s.Phases, phase)
	}
	slices.SortFunc(s.Phases, func(a, b PhaseStats) int {
		return cmp.Or(cmp.Compare(a.Recipe, b.Recipe), cmp.Compare(a.Phase, b.Phase))
	})
	slices.SortFunc(s.Handles, func(a, b HandleStats) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Recipe, b.Recipe), cmp.Compare(a.ID, b.ID))
	})
}

// members calls f with all participants, and with the shards of each, until it returns false.
func (c *Client) members(f func(journal.Member) bool) {
	more := true
	for _, r := range c.handles.All() {
		p := r.asParticipant()
		if p == nil {
			continue
		}
		if more = more && f(p); p.parts != nil {
			p.parts(func(one *participant) { more = more && f(one) })
		}
		if !more {
			return
		}
	}
}

// stats returns the state of a participant.
func (p *participant) stats() HandleStats {
	s := HandleStats{Path: p.Path(), Recipe: p.base.Recipe(), ID: p.name, Phase: p.Phase(), Holds: p.holdsOnce(),
		Leads: p.HasLeadership(), Err: p.Err()}
	now := p.client.core.Clock.Now()
	p.mu.Lock()
	t, last := p.term, p.last
	p.mu.Unlock()
	if t != nil {
		s.Token, s.Began = t.Token, clock.Wall(t.began-now)
		if s.Leads {
			s.ValidFor = time.Duration(max(p.client.core.Belief.Until(t.Session)-now, 0))
		}
	}
	if last != nil {
		s.Draining = last.draining()
	}
	if p.parts != nil {
		p.parts(func(one *participant) { s.add(one.stats()) })
	}
	return s
}

// add adds how one of a member's shards is.
func (s *HandleStats) add(one HandleStats) {
	s.Draining = max(s.Draining, one.Draining)
	if one.Leads {
		s.Owned, s.ValidFor = s.Owned+1, one.ValidFor
	}
}

// draining returns for how long work goes on after it had to end; 0 if none does.
func (t *heldTerm) draining() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w := t.work(); w.stopped != nil && len(w.works) > 0 {
		return clock.Instant().Sub(w.stopAt)
	}
	return 0
}

// Probe returns nil as soon as the client's loop has answered, which takes microseconds unless the
// loop is stuck; a client that is closed has no loop to wait for. It sends nothing to the ensemble.
// Its error is the context's.
func (c *Client) Probe(ctx context.Context) error {
	c.check(ctx)
	if c.core.IsClosed() {
		return nil
	}
	select {
	case <-c.core.Loop.SignOfLife():
	case <-c.ended:
	case <-ctx.Done():
		return calls.AsError("probe", "", context.Cause(ctx))
	}
	return nil
}

// Closed reports whether Close was called. A client that is being closed is closed, too.
func (c *Client) Closed() bool {
	c.opened()
	return c.core.Closing() || c.core.IsClosed()
}

// Histogram is a distribution of values: durations in seconds, or shares from 0 to 1.
type Histogram struct {
	Bounds []float64 // upper bounds of the buckets, inclusive and ascending; not to be changed
	Counts []uint64  // of each bucket, not cumulative; the last is of values above all bounds
	Sum    float64   // of all values
}

// Count returns the number of values.
func (h Histogram) Count() (n uint64) {
	for _, c := range h.Counts {
		n += c
	}
	return n
}
