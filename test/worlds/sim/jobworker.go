package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// workedJob is the job whose items programs deal and run, and workedElection the directory of its election.
const (
	workedJob      = "/app/worked"
	workedElection = workedJob + "/leader/election"
)

// jobWorkerRole is the role of an instance that runs a job's items. Its programs trigger the items, and processes of
// the same worlds deal them (workedDealerRole). Meanwhile operators change the job. No item runs at two instances at a
// time. In a healed world each item that has an owner runs, the items of an instance that dies are taken over or dealt
// again, and no mark and no flag stays. The checks are in jobworker_checks.go.
var jobWorkerRole = &role{
	recipe:   "jobworker",
	name:     "job worker",
	separate: true,
	share:    4,
	dirs: dirTraits{own: workedElection, node: workedJob, stays: []string{"latch"},
		sub: []string{workedElection, workedElection + "/latch", workedJob + "/leader/failover/latch"}},
	program: jobWorkerProgram{},
	states: stateTraits{
		final: []engine.State{"idle", "waiting", "closed", ""},
		wakes: map[engine.State]waking{
			"reading": answered, "writing": answered, "waiting": needs(1), "idle": needs(1), "queueing": hasLatch,
			"working": working, "draining": working, "pausing": timed, "leaving": hasLatch,
		},
		faults: map[engine.State][]string{
			"writing": {"cut", "throttle"}, "working": {"delete the own node", "cut"}, "queueing": {"cut"},
		},
	},
	plants: plantedWorkers,
}

// workedDealerRole is the role of the elections of the same job: their leader deals the items.
var workedDealerRole = &role{
	name:     "job worker's dealer",
	recipe:   "jobelection",
	separate: true,
	line:     lineTraits{fixedName: true},
	dirs:     dirTraits{own: workedElection, node: workedJob},
	program:  workedDealerProgram{},
	states: stateTraits{final: jobElectionRole.states.final, wakes: jobDealerRole.states.wakes,
		faults: map[engine.State][]string{"leading": {"cut"}}},
}

type workedDealerProgram struct{ jobElectionProgram }

func (workedDealerProgram) options(u *user, _ *rand.Rand) map[string]string {
	return map[string]string{"server": serverIP(u.c.ID()), "deals": "true"}
}

// act does nothing where one process is struck: there all is quiet but for the script.
func (p workedDealerProgram) act(u *user, n int) {
	if u.c.w.Strike.How == "" {
		p.jobElectionProgram.act(u, n)
	}
}

func (workedDealerProgram) target(*user) string { return machines.JobMarker(workedJob) }

type jobWorkerProgram struct{ handleProgram }

func (jobWorkerProgram) options(u *user, _ *rand.Rand) map[string]string {
	return map[string]string{"instance": instanceID(u.c.ID()), "ip": serverIP(u.c.ID())}
}

// serverIP is the address of the server that a process runs on.
func serverIP(n int) string { return fmt.Sprintf("10.0.0.%d", n) }

func (jobWorkerProgram) target(u *user) string {
	return machines.JobInstance(workedJob, instanceID(u.c.ID()))
}

// act triggers the items, or changes the job. In a healed world only operate does.
func (jobWorkerProgram) act(u *user, n int) {
	switch {
	case u.c.w.healed || u.c.w.Strike.How != "":
	case n < 7:
		u.c.Ask(u.id, events.CommandTrigger, events.Event{})
	case n < 11:
		u.c.w.changeWork(u.dice())
	}
}

// noticed runs an item that the machine says is this instance's.
func (jobWorkerProgram) noticed(u *user, n events.Notify) {
	k := u.c.w.checks
	switch n.What {
	case events.Delivered:
		k.itemBegins(u, n)
		work := n.Work
		u.serial = max(u.serial, work)
		u.works[work] = true
		u.runCallback(func() { u.runWork(work) })
		k.workedJob.killOwner(u)
	case events.Withdrawn:
		k.itemsWithdrawn(u)
		u.stopWork()
	}
}

// changeWork has somebody change the job.
func (w *harness) changeWork(d *rand.Rand) {
	if w.stateOf(machines.JobConfigNode(workedJob)).stat == nil {
		w.makeJob(workedJob, 1+d.IntN(4), "misfire: true\n")
	}
	item, instance := d.IntN(4), d.IntN(w.Plan.Clients)
	server := machines.JobServer(workedJob, serverIP(instance))
	disabled := machines.JobItem(workedJob, item, machines.ItemDisabled)
	switch n := d.IntN(20); {
	case n < 4:
		w.putNode(machines.JobNecessary(workedJob), "")
	case n == 4:
		w.putNode(machines.JobProcessing(workedJob), "")
	case n < 7:
		w.makeJob(workedJob, 1+d.IntN(4), []string{"", "misfire: true\n", "staticSharding: true\n"}[d.IntN(3)])
	case n == 7 && world.OneIn(d, 2):
		w.putNode(machines.JobConfigNode(workedJob), []string{"", "shardingTotalCount: none\n"}[d.IntN(2)])
	case n < 10:
		w.putNode(server, []string{machines.ServerDisabled, machines.ServerEnabled}[n%2])
	case n < 12:
		w.putNode(disabled, "")
	case n < 14:
		w.removeNode(disabled)
	case n < 16:
		w.putNode(machines.JobItem(workedJob, item, machines.ItemMisfire), "")
	case n < 18:
		w.putNode(workedJob+"/trigger", "")
		w.putNode(machines.JobTrigger(workedJob, instanceID(instance)), "")
	default:
		w.removeNode(machines.JobItem(workedJob, item, machines.ItemInstance))
	}
}

// operate ends what would keep items from being dealt and run. Then it has all instances run their items again and
// again, and ends the process of one that runs some.
func (jobWorkerProgram) operate(w *harness) {
	switch k := w.checks.workedJob; {
	case !w.healed || k.round > workRounds || k.since == w.Now():
	case k.round == 0:
		k.round, k.since = 1, w.Now()
		w.repairJob()
	case w.workLacks() == "":
		k.round, k.since = k.round+1, w.Now()
		k.begun = map[int]bool{}
		w.triggerAll()
	}
}

// repairJob ends what would keep items from being dealt and run: what operators have changed, and what a backup has
// brought back of instances that go on without it.
func (w *harness) repairJob() {
	w.makeJob(workedJob, w.itemsInEnd(), "misfire: true\n")
	for n := range w.Plan.Clients {
		w.putNode(machines.JobServer(workedJob, serverIP(n)), machines.ServerEnabled)
	}
	for item := range 4 {
		w.removeNode(machines.JobItem(workedJob, item, machines.ItemDisabled))
		for _, leaf := range []string{machines.ItemRunning, machines.ItemFailover, machines.ItemFailovering} {
			if w.ens.Generation() > 0 {
				w.removeNode(machines.JobItem(workedJob, item, leaf))
			}
		}
	}
	for _, u := range w.usersOf("jobworker") {
		own := u.targetPath()
		w.giveAccess(own)
		if w.ens.Generation() > 0 && u.c.Engine().State(u.id) == "" {
			w.removeNode(own)
		}
	}
	w.putNode(machines.JobProcessing(workedJob), "")
}

// triggerAll has all instances run their items.
func (w *harness) triggerAll() {
	for _, u := range w.ableWorkers() {
		u.c.Run(func() { u.c.Ask(u.id, events.CommandTrigger, events.Event{}) })
	}
}

// ableWorkers returns the instances that have not ended.
func (w *harness) ableWorkers() []*user {
	return slices.DeleteFunc(w.usersOf("jobworker"), func(u *user) bool {
		class := u.c.Engine().Class(u.id)
		return u.closing || u.c.Dead() || u.c.leaving || class == "" || class == events.ClassClosed
	})
}

func (jobWorkerProgram) unsettled(u *user) string {
	w := u.c.w
	switch why := w.workLacks(); {
	case !w.jobLed() || !slices.Contains(w.ableWorkers(), u):
		return ""
	case why == "" && w.checks.workedJob.round <= workRounds:
		return "has not run its items often enough"
	default:
		return why
	}
}

// withoutFailover shapes worlds in which no item is taken over, so that only marks keep items from being dealt.
func withoutFailover(p *Plan) {
	inDir(workedElection)(p)
	p.Clients = 4
	p.often(4, "ambush")
}

// workerEffects returns a plant that changes the effects of instances.
func workerEffects(name string, change func(e events.Effect) events.Effect) Plant {
	return Plant{Name: "job worker: " + name, Shape: inDir(workedElection), Stepped: effectsOf("jobworker", change)}
}

// workerChart returns a plant that changes their chart.
func workerChart(name string, m func() mutate.Mutation) Plant {
	return Plant{Name: "job worker: " + name, Shape: inDir(workedElection), Mutations: inOne("jobworker", m)}
}

// notLasting does something to a model that takes its marks for such that end with the session.
func notLasting(model any, do func()) {
	lasting := field[bool](model, "lasting")
	was := *lasting
	*lasting = false
	do()
	*lasting = was
}

var plantedWorkers = []Plant{
	{Name: "job worker: it runs items without marks", Shape: withoutFailover,
		Stepped: effectsOf("jobworker", func(e events.Effect) events.Effect {
			if m, multi := e.(events.Multi); multi {
				m.Ops = withoutNodes(machines.ItemRunning)(slices.Clone(m.Ops))
				return m
			}
			return e
		})},
	workerEffects("it leaves the marks of what has run", func(e events.Effect) events.Effect {
		if d, deletes := e.(events.Delete); deletes && base(d.Path) == machines.ItemRunning {
			d.Path += "s" // which does not exist
			return d
		}
		return e
	}),
	{Name: "job worker: every item is its own", Shape: withoutFailover,
		Posted: func(c *client, id events.ID, ev *events.Event) bool {
			u := c.user(id)
			if u != nil && u.role.recipe == "jobworker" && ev.Kind == events.ReplyStat && ev.Code == events.OK &&
				strings.HasPrefix(ev.Path, machines.JobItems(workedJob)) && base(ev.Path) == machines.ItemInstance {
				ev.Data = []byte(instanceID(c.ID()))
			}
			return true
		}},
	workerChart("nothing is taken over", func() mutate.Mutation {
		return mutate.Mutation{Guards: map[string]guarding{"mayTakeOver": never, "mayTakeOverNow": never}}
	}),
	workerChart("a run begins without a confirmation", func() mutate.Mutation {
		return withGuard("mayRun", ifBelieving(func(events.Event) bool { return true }))
	}),
	workerChart("removed, it deletes the mark of the next one", func() mutate.Mutation {
		return mutate.Mutation{
			Guards: map[string]guarding{
				"wasRemovedIdle": func(model any, ev events.Event, holds func(events.Event) bool) (is bool) {
					notLasting(model, func() { is = holds(ev) })
					return is
				}},
			Actions: map[string]acting{
				"noteRemoved": func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
					notLasting(model, func() { do(ev) })
				}},
		}
	}),
	workerChart("what a lost reply hides is not read", func() mutate.Mutation {
		return mutate.Mutation{Actions: map[string]acting{
			"suspend": func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
				do(ev)
				*field[bool](model, "doubt") = false
			}}}
	}),
	workerChart("closing, it waits for a connection after its session", func() mutate.Mutation {
		return withGuard("endsNow", never)
	}),
}
