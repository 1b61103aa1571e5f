package play

import (
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/why/txnlog"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// beginMillis is when each world begins, in milliseconds since 1970: at midnight, so that the time of day is the
// world's.
const beginMillis = 1_767_225_600_000

// sinceEpoch returns a moment of a world in microseconds since 1970.
func sinceEpoch(t int64) int64 { return beginMillis*1000 + t/1000 }

// run is a world that is played, and what is kept of it. It is the world's observer.
type run struct {
	world.Idle

	script   Script // without marks
	bug      *Bug   // nil for none
	done     []Deed // those that the world has
	w        *world.World
	records  [][]events.Record // by participant
	txns     []txnlog.Txn
	commits  map[int64]int64 // zxid → when it was committed, nanoseconds
	pauses   [][]span        // by participant
	servers  []*serverLife
	did      []outcome
	promises *promises
}

// newRun returns a world at its beginning, with the deeds up to a moment.
func newRun(s Script, until time.Duration) (*run, error) {
	r := &run{script: s, bug: bugNamed(s.Bug), commits: map[int64]int64{},
		records: make([][]events.Record, s.Starting+s.Waiting), pauses: make([][]span, s.Starting+s.Waiting)}
	built := s.build(until)
	var err error
	if r.w, err = world.New(built, r); err != nil {
		return nil, err
	}
	r.done = slices.Clone(s.Deeds[:len(built.Actions)])
	r.promises = newPromises(r)
	for _, server := range r.w.Ensemble().Servers() {
		server.SetClockAhead(beginMillis)
		r.servers = append(r.servers, &serverLife{server: server})
	}
	r.watchServers()
	return r, nil
}

// continues reports whether the script's world up to a moment is this one, or goes on from it.
func (r *run) continues(s Script, until time.Duration) bool {
	if r.script.Head() != s.Head() || int64(until) < r.w.Now() || len(s.Deeds) < len(r.done) ||
		!slices.Equal(s.Deeds[:len(r.done)], r.done) {
		return false
	}
	return len(s.Deeds) == len(r.done) || int64(s.Deeds[len(r.done)].At) > r.w.Now()
}

// until plays the world up to a moment, with the deeds of a script that it continues.
func (r *run) until(s Script, until time.Duration) error {
	if err := r.add(s, until); err != nil {
		return err
	}
	r.w.Until(int64(until))
	return nil
}

// add adds the deeds up to a moment that the world does not have yet.
func (r *run) add(s Script, until time.Duration) error {
	for _, d := range s.Deeds[len(r.done):] {
		if d.At > until {
			break
		}
		if err := r.w.Add(s.action(d)); err != nil {
			return err
		}
		r.done = append(r.done, d)
	}
	return nil
}

// step plays the world until that many more records were made, but for no longer than a while, and then to the end of
// the microsecond.
func (r *run) step(s Script, records int, within time.Duration) error {
	end := min(time.Duration(r.w.Now())+within, MaxUntil)
	if err := r.add(s, end); err != nil {
		return err
	}
	r.w.Step(records, end-time.Duration(r.w.Now()))
	r.w.Until(r.now())
	return nil
}

// now returns the end of the microsecond that the world is in: links and pages know no shorter times, and a world that
// is stopped may be in the middle of one.
func (r *run) now() int64 { return (r.w.Now() + 999) / 1000 * 1000 }

// stopped returns why the world goes no further, "" if it does.
func (r *run) stopped() string {
	if r.w.Records() < MaxRecords {
		return ""
	}
	return "this world has made " + plural(MaxRecords, "record") + ", and stops here"
}

// endedByOthers reports whether others than its own session have ended a node.
func (r *run) endedByOthers(path string) bool { return r.promises.ended[path] }

// name returns the name of a client.
func (r *run) name(c *world.Client) string { return names[c.ID()] }

// ownerOf returns the participant whose session this is, "" for none.
func (r *run) ownerOf(session int64) string {
	for _, c := range r.w.Clients() {
		if session != 0 && slices.Contains(c.SessionIDs(), session) {
			return r.name(c)
		}
	}
	return ""
}

// Posting implements world.Observer.
func (r *run) Posting(c *world.Client, to events.ID, ev *events.Event) bool {
	if r.bug != nil && r.bug.posting != nil {
		r.bug.posting(r, c, to, ev)
	}
	return true
}

// Sent implements world.Observer.
func (r *run) Sent(_ *world.Client, a *world.Packet) {
	if r.bug != nil && r.bug.sent != nil {
		r.bug.sent(a)
	}
}

// Recorded implements world.Observer.
func (r *run) Recorded(c *world.Client, rec events.Record) {
	r.records[c.ID()] = append(r.records[c.ID()], rec)
	if r.w.Records() >= MaxRecords {
		r.w.Stop()
	}
}

// Committed implements world.Observer.
func (r *run) Committed(p *world.Proposal) {
	r.commits[p.Txn.Zxid] = r.w.Now()
	t := txnlog.Txn{Zxid: p.Txn.Zxid, Session: p.Txn.Session, Time: p.Txn.Time, Kind: txnlog.Kind(p.Txn.Code)}
	if p.Origin != nil || p.Server != nil {
		t.Cxid = 1
	}
	for _, one := range append([]zkmem.Txn{p.Txn}, p.Txn.Ops...) {
		switch one.Code {
		case zkmem.OpCreate, zkmem.OpDelete, zkmem.OpCloseSession, zkmem.OpSetData:
			t.Changes = append(t.Changes,
				txnlog.Change{Kind: txnlog.Kind(one.Code), Path: one.Path, Ephemeral: one.Owner > 0})
		}
	}
	r.txns = append(r.txns, t)
	r.promises.committed(p)
}

// Done implements world.Observer.
func (r *run) Done(o world.Outcome) {
	r.did = append(r.did, r.outcome(r.done[len(r.did)], o))
}

// Notice implements world.Observer.
func (r *run) Notice(c *world.Client, id events.ID, n events.Notify) { r.promises.notice(c, id, n) }

// Published implements world.Observer.
func (r *run) Published(c *world.Client, _ events.Deadline) { r.promises.published(c) }

// Replied implements world.Observer.
func (r *run) Replied(c *world.Client, a *world.Packet, ev events.Event) {
	r.promises.replied(c, a, ev)
}

// Entered implements world.Observer.
func (r *run) Entered(c *world.Client, id events.ID, now events.Entered) {
	r.promises.entered(c, id, now.Class)
}
