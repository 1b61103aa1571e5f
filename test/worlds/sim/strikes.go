package sim

import (
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
)

// Strike is a fault at one write of one process. A world that is played once for each write, with every strike, has the
// fault at every place between two of them.
type Strike struct {
	Client, Write int // the process, and which of its writes, from 1 on, heartbeats left out; 0: no strike
	How           StrikeKind
}

// StrikeKind says what happens at the write.
type StrikeKind string

// What can happen at a write.
const (
	KillBefore StrikeKind = "the process is killed before the write"
	KillAfter  StrikeKind = "the process is killed after the write was carried out, and has no answer"
	CutBefore  StrikeKind = "the connection is cut before the write leaves"
	CutAfter   StrikeKind = "the connection is cut after the write was carried out, and has no answer"
)

// StrikeKinds are all of them.
var StrikeKinds = []StrikeKind{KillBefore, KillAfter, CutBefore, CutAfter}

// StruckJob returns the plan of a small world without any other fault: three processes deal the items of a job and run
// them, and one of them is struck. It is healed after eight seconds. Package small plays all of these worlds.
func StruckJob(s Strike) *Plan {
	return &Plan{
		Seed: struckSeed, Clients: 3, OwnDirs: []string{workedElection}, Tick: 500 * time.Millisecond, SyncLimit: 4,
		Timeout: 2 * time.Second, OneFlight: true, Length: 8 * time.Second, Retry: "bounded/-1/50ms/2s", Strike: s,
	}
}

// startScript schedules what happens in a world with a strike: the job is created, changed, and run between.
func (w *harness) startScript() {
	if w.Strike.How == "" {
		return
	}
	w.makeJob(workedJob, 3, "misfire: true\n")
	w.After(4*time.Second, w.triggerAll)
	w.After(4500*time.Millisecond, w.triggerAll) // a misfire
	w.After(5*time.Second, func() { w.makeJob(workedJob, 4, "misfire: true\n") })
	w.After(6500*time.Millisecond, w.triggerAll)
	w.After(7*time.Second, func() { w.putNode(machines.JobNecessary(workedJob), "") })
}

// strikeState is how far a strike has come.
type strikeState struct {
	writes int  // that the process has sent
	has    bool // the strike has come
	from   events.ID
	number uint64 // of the request that is struck
	how    string // what happens to it on its way
	leaves bool   // it is about to leave
}

// struckSeed is the seed of the worlds with a strike. StruckLeader leads the job in them, and deals; StruckWorker does
// neither.
const (
	struckSeed   = 4
	StruckLeader = 2
	StruckWorker = 0
)

// shortLife is how long a process goes on that is killed after a write: nothing comes to it any more.
const shortLife = 15 * time.Millisecond

// strikeAt returns the effects of a step that are performed, and makes the strike happen if its write is among them.
func (w *harness) strikeAt(c *world.Client, out []engine.Addressed) []engine.Addressed {
	if w.Strike.Write == 0 || w.struck.has || w.healed || c.ID() != w.Strike.Client {
		return out
	}
	for i, a := range out {
		r, asks := a.Effect.(events.Request)
		if !asks || !world.Writes(r) || a.From == events.SessionMachine || !c.Attached() {
			continue
		}
		if w.struck.writes++; w.struck.writes < w.Strike.Write {
			continue
		}
		w.struck.has, w.struck.how = true, world.CutAfterApply
		w.struck.from, w.struck.number = a.From, r.Header().Request
		w.Log("STRIKE at client %d: %s: %v", c.ID(), w.Strike.How, r)
		switch w.Strike.How {
		case KillBefore:
			w.After(0, func() { _ = c.Kill() })
			return out[:i]
		case KillAfter:
			w.After(shortLife, func() { _ = c.Kill() })
			return out[:i+1]
		case CutBefore:
			w.struck.how = world.CutBeforeSend
		}
		return out
	}
	return out
}

// strikeSent notes whether the request that is struck is about to leave.
func (w *harness) strikeSent(a *world.Packet) {
	w.struck.leaves = w.struck.how != "" && a.ID == w.struck.from && a.Request.Header().Request == w.struck.number
}

// strikes reports whether a fault happens to the request that is about to leave.
func (w *harness) strikes(fault string) bool {
	is := w.struck.leaves && w.struck.how == fault
	w.struck.leaves = w.struck.leaves && !is
	return is
}
