package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// harness is one world with its checks, programs, plan, planted bugs and coverage. It
// is the world's Observer.
type harness struct {
	Plan
	*world.World
	ens         *world.Ensemble
	clients     []*client
	queue       *queueState // nil if the world has no queue
	checks      *checks
	struck      strikeState
	vacancies   *vacancies
	plant       *Plant
	healed      bool // the faults are over
	closing     bool // everything was asked to close
	cover       *Coverage
	stories     bool
	story       []string
	keepRecords bool // the clients' records are kept
}

// client is one process and its program.
type client struct {
	*world.Client
	w     *harness
	users []*user

	log            []events.Record
	confirmed      int64 // when the request of the last confirmation left, on this connection
	dataReplacedAt int64 // when the ensemble was wiped or restored last
	connected      bool  // there is a connection, as far as the loop knows
	writeConfirmed bool  // and a committed write was confirmed on it
	sessionSeen    int64 // ZooKeeper's id of its session, as far as the loop knows
	leaving        bool  // it closes, or has closed
	sessionEnds    bool  // and its session too

	heartbeats heartbeats
	plain      plainEvents
	electedBy  map[events.ID]events.Event // machine → the event that made it leader
	created    map[string]events.ID       // node → the machine that created it
	oldReply   map[events.ID]events.Event // for a planted bug
	mistaken   map[events.ID]mistakenNode // for a planted bug

	alone       map[int64]int64 // session → until when it was ever said to be sure
	enrolments  map[events.ID]*enrolment
	connections int // how many the loop knew of

	parentsMade map[string]bool // for a planted bug

	atConfirmation func() // what a fault does when a confirmation moves the deadline on; nil for nothing
}

// newHarness returns the world of a plan, without a client yet.
func newHarness(plan Plan, o Options) *harness {
	w := &harness{Plan: plan, plant: o.Plant, cover: newCoverage(), stories: o.Story, keepRecords: o.Keep}
	w.checks, w.vacancies = newChecks(w), newVacancies(w)
	var err error
	w.World, err = world.New(world.Script{Seed: plan.Seed, Tick: plan.Tick, SyncLimit: plan.SyncLimit,
		Timeout: plan.Timeout, RideOut: plan.RideOut, Layout: w.layout()}, w)
	if err != nil {
		panic(err) // no server would take the plan
	}
	w.ens = w.World.Ensemble()
	return w
}

func (w *harness) newClient() *client {
	c := &client{
		Client: w.AddClient(world.Process{Recipes: w.recipes(), Drift: w.has("drift")}), w: w,
		electedBy: map[events.ID]events.Event{}, created: map[string]events.ID{}, alone: map[int64]int64{},
		enrolments: map[events.ID]*enrolment{}, parentsMade: map[string]bool{},
	}
	if w.has("drift") {
		w.cover.fault("drift")
	}
	w.clients = append(w.clients, c)
	return c
}

// recipes returns the product's recipes that have a role, or that machines open, as the plant changes them.
func (w *harness) recipes() []engine.Recipe {
	all := slices.DeleteFunc(slices.Clone(machines.Recipes()), func(r engine.Recipe) bool {
		return !slices.Contains(openedByMachines, r.Name()) && roleOf(r.Name()) == nil
	})
	if w.plant == nil || w.plant.Mutations == nil {
		return all
	}
	for recipe, m := range w.plant.Mutations() {
		for i := range all {
			if all[i].Name() == recipe {
				all[i] = mutate.Recipe(all[i], m)
			}
		}
	}
	return all
}

func (c *client) user(id events.ID) *user {
	for _, u := range c.users {
		if u.id == id {
			return u
		}
	}
	return nil
}

// believes reports what Leadership.Check would say now: it compares the clock with
// the deadline, whether or not the loop has noticed.
func (c *client) believes(b *belief) bool {
	return c.Deadline().Session == b.session && c.Clock() < c.Deadline().Until
}

// closeSession closes the client. Some programs do so twice.
func (c *client) closeSession() {
	c.sessionEnds = true
	for range 1 + c.w.Dice("user").IntN(2) {
		c.Ask(events.SessionMachine, events.CommandClose, events.Event{})
	}
}

// program returns a process with its program.
func (w *harness) program(c *world.Client) *client { return w.clients[c.ID()] }

func (w *harness) Rare(_ *world.Client, what string) {
	switch what {
	case world.DeadlineLapsed:
		w.cover.LapsedDeadlines++
	case world.WentBack:
		w.cover.SessionsFromBackup++
	default:
		w.cover.fault(what)
	}
}

// Logged adds a line to the world's story.
func (w *harness) Logged(at int64, format string, args ...any) {
	if w.stories {
		w.story = append(w.story, fmt.Sprintf("%12s  ", time.Duration(at))+fmt.Sprintf(format, args...))
	}
}

func (w *harness) Happens(name string) bool {
	if p := w.plant; p != nil {
		switch name {
		case world.BugQueuesRequests:
			return p.QueuesRequests
		case world.BugCountsUnanswered:
			return p.CountsUnanswered
		case world.BugProbeIgnoresZxid:
			return p.ProbeIgnoresZxid
		case world.BugRevivesDeadline:
			return p.RevivesDeadline
		case world.BugLapseWaits:
			return p.LapseWaits
		case world.BugClockStops:
			return p.ClockStops
		case world.BugSeesCounters:
			return p.SeesCounters
		case world.BugDialsOneServer:
			return p.DialsOneServer
		}
	}
	return w.strikes(name) || w.hit(name)
}

// Done does nothing: these worlds have no script.
func (w *harness) Done(world.Outcome) {}

func (w *harness) Committed(p *world.Proposal) {
	w.checks.committed(p)
	w.vacancies.committed(p)
	w.reapBehind(p.Txn)
}

func (w *harness) DataReplaced() {
	w.checks.dataReplaced()
	w.vacancies.dataReplaced()
}

func (w *harness) Posting(to *world.Client, id events.ID, ev *events.Event) bool {
	c := w.program(to)
	if p := w.plant; p != nil && p.Posted != nil && !p.Posted(c, id, ev) {
		return false
	}
	c.noteCreated(id, *ev)
	c.heartbeats.posting(c.Clock(), *ev)
	w.vacancies.posting(c, *ev)
	return true
}

func (w *harness) Feeding(to *world.Client, env *events.Envelope) {
	c := w.program(to)
	c.fed(env.Event)
	c.heartbeats.fed(*env)
	c.plain.note(env.Event, c.sessionSeen)
	if p := w.plant; p != nil && p.Fed != nil {
		p.Fed(c, env)
	}
}

func (w *harness) Stepped(c *world.Client, out []engine.Addressed) []engine.Addressed {
	out = w.strikeAt(c, out)
	w.checks.nextHeartbeat(w.program(c), out)
	if p := w.plant; p != nil && p.Stepped != nil {
		return p.Stepped(w.program(c), out)
	}
	return out
}

func (w *harness) Recorded(by *world.Client, r events.Record) {
	c := w.program(by)
	w.cover.note(r)
	w.checks.record(c, r)
	if w.keepRecords {
		c.log = append(c.log, r)
	}
}

func (w *harness) Performed(c *world.Client) { w.checks.stepped(w.program(c)) }

func (w *harness) Entered(c *world.Client, id events.ID, now events.Entered) {
	if u := w.program(c).user(id); u != nil {
		u.hasWorked = u.hasWorked && now.State != "enrolling"
		if now.State != "leaving" {
			u.refusedAt = 0
		}
	}
	w.drawStateFault(w.program(c), id, now.State)
}

func (w *harness) Asked(c *world.Client, a engine.Addressed) { w.checks.asked(w.program(c), a) }

func (w *harness) Sent(c *world.Client, a *world.Packet) {
	w.strikeSent(a)
	w.checks.deleteSent(w.program(c), a)
	w.reapBetween(a.Request)
	if w.plant != nil && w.plant.Sent != nil {
		w.plant.Sent(w.program(c), a)
	}
}

func (w *harness) Replied(c *world.Client, a *world.Packet, ev events.Event) {
	w.checks.replied(w.program(c), a, ev)
}

func (w *harness) Published(by *world.Client, old events.Deadline) {
	c := w.program(by)
	w.checks.deadline(c, old)
	if c.atConfirmation != nil && c.Deadline().Until > old.Until {
		c.atConfirmation()
	}
}

func (w *harness) Notice(c *world.Client, id events.ID, n events.Notify) {
	if u := w.program(c).user(id); u != nil {
		u.notice(n)
	}
}

func (w *harness) Answered(by *world.Client, id events.ID, a events.Answer, expected bool) {
	c := w.program(by)
	if !expected {
		w.checks.fail("answers", "client %d: %s answered command %d, which is not open", c.ID(), id, a.Command)
	}
	if u := c.user(id); u != nil {
		u.answered(a)
	}
}

func (w *harness) Payload(c *world.Client, id events.ID, number uint64) []byte {
	u := w.program(c).user(id)
	return u.role.program.payload(u, number)
}

func (w *harness) UserData(c *world.Client, id events.ID, ev events.Event) {
	if u := w.program(c).user(id); u != nil {
		u.role.program.keepReply(u, ev)
	}
}
