package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// dealtJob is the job whose items programs deal, and dealtElection the directory of its election.
const (
	dealtJob      = "/app/dealt"
	dealtElection = dealtJob + "/leader/election"
)

// jobDealerRole is the role of a job election that deals the job's items. Its programs do what those of the job
// election do. Meanwhile instances come, go and run items, and operators change the job. Only the leader
// deals, and only while nothing runs. In a healed world each item gets an owner that lives.
var jobDealerRole = &role{
	name:     "job dealer",
	recipe:   "jobelection",
	separate: true,
	share:    2,
	line:     lineTraits{fixedName: true},
	dirs: dirTraits{own: dealtElection, sub: []string{dealtElection, dealtElection + "/latch"}, node: dealtJob,
		stays: []string{"latch"}},
	program: jobDealerProgram{},
	states: stateTraits{final: jobElectionRole.states.final, faults: jobElectionRole.states.faults,
		wakes: with(jobElectionRole.states.wakes, map[engine.State]waking{"pausing": timedOrWithheld})},
	plants: plantedDealers,
}

type jobDealerProgram struct{ jobElectionProgram }

func (jobDealerProgram) options(u *user, _ *rand.Rand) map[string]string {
	return map[string]string{"server": fmt.Sprintf("10.0.0.%d", u.c.ID()), "deals": "true"}
}

func (jobDealerProgram) target(*user) string { return machines.JobMarker(dealtJob) }

func (p jobDealerProgram) act(u *user, n int) {
	if n < 9 {
		p.jobElectionProgram.act(u, n)
		return
	}
	if !u.c.w.healed {
		u.c.w.changeJob(u.dice())
	}
}

// dealerWakes and dealerTreeWakes wake the machines that a candidate opens.
var (
	dealerWakes = map[engine.State]waking{"flagging": answered, "dealing": answered, "gathering": timed,
		"pausing": timed}
	dealerTreeWakes = with(treeCacheRole.states.wakes, map[engine.State]waking{"reading": answered})
)

// timedOrWithheld is the waking of a candidate that pauses: its dealer wakes it if it may not stand.
func timedOrWithheld(c *client, id events.ID, awaited, watches int) bool {
	return timed(c, id, awaited, watches) || c.Engine().State("jobdealer-"+id) != ""
}

// instanceID is the id of an instance that runs items.
func instanceID(n int) string { return fmt.Sprintf("10.0.0.%d@-@7", n) }

// putNode writes a node that no session owns.
func (w *harness) putNode(path, data string) {
	op := zkmem.Op{Code: zkmem.OpCreate, Path: path, Data: []byte(data), ACL: zkmem.OpenACL()}
	if w.stateOf(path).stat != nil {
		op.Code, op.Version = zkmem.OpSetData, zkmem.AnyVersion
	}
	w.ens.Operate(op)
}

func (w *harness) removeNode(path string) {
	w.ens.Operate(zkmem.Op{Code: zkmem.OpDelete, Path: path, Version: zkmem.AnyVersion})
}

// makeJob creates what every job has.
func (w *harness) makeJob(job string, total int, more string) {
	for _, path := range []string{"/app", job, job + "/servers", job + "/instances"} {
		if w.stateOf(path).stat == nil {
			w.putNode(path, "")
		}
	}
	w.putNode(machines.JobConfigNode(job), fmt.Sprintf("jobName: %s\nshardingTotalCount: %d\n"+
		"monitorExecution: true\nfailover: %t\n%s", base(job), total, total > 2, more))
}

// changeJob has somebody change the job, or begin or end to run an item.
func (w *harness) changeJob(d *rand.Rand) {
	if w.stateOf(machines.JobConfigNode(dealtJob)).stat == nil {
		w.makeJob(dealtJob, 3, "")
	}
	for range 1 + d.IntN(3) {
		item, instance := d.IntN(4), 1+d.IntN(4)
		running := machines.JobItem(dealtJob, item, machines.ItemRunning)
		server := machines.JobServer(dealtJob, fmt.Sprintf("10.0.0.%d", instance))
		switch n := d.IntN(24); {
		case n < 6:
			w.putNode(server, machines.ServerEnabled)
			w.putNode(machines.JobInstance(dealtJob, instanceID(instance)),
				fmt.Sprintf("jobInstanceId: %s\nserverIp: 10.0.0.%d\n", instanceID(instance), instance))
		case n < 10:
			w.removeNode(machines.JobInstance(dealtJob, instanceID(instance)))
		case n < 14 && w.stateOf(running).stat == nil:
			w.putNode(running, instanceID(instance))
		case n < 18:
			w.removeNode(running)
		case n == 18:
			w.putNode(server, machines.ServerDisabled)
		case n == 19:
			more := []string{"", "staticSharding: true\n", "jobShardingStrategyType: ODEVITY\n"}
			w.makeJob(dealtJob, 1+d.IntN(4), more[d.IntN(3)])
		case n == 20 && world.OneIn(d, 3):
			w.makeJob(dealtJob, 0, []string{"", "jobShardingStrategyType: MINE\n"}[d.IntN(2)])
		case n == 21:
			w.putNode(machines.JobNecessary(dealtJob), "")
		case n == 22:
			w.putNode(machines.JobProcessing(dealtJob), "")
		default:
			w.removeNode(machines.JobItem(dealtJob, item, machines.ItemInstance))
		}
	}
}

// jobRounds is how often a healed world changes the job after its items were dealt.
const jobRounds = 3

// operate ends what would keep items from being dealt, and then changes the job again and again.
func (jobDealerProgram) operate(w *harness) {
	switch {
	case !w.healed || w.checks.jobRounds > jobRounds:
	case w.checks.jobRounds == 0:
		w.checks.jobRounds++
		w.makeJob(dealtJob, 3, "")
		for item := range 5 {
			w.removeNode(machines.JobItem(dealtJob, item, machines.ItemRunning))
		}
		for n := range 8 {
			w.putNode(machines.JobServer(dealtJob, fmt.Sprintf("10.0.0.%d", n)), machines.ServerEnabled)
		}
		w.putNode(machines.JobInstance(dealtJob, instanceID(1)), "")
		w.putNode(machines.JobProcessing(dealtJob), "")
	case w.jobLacks(dealtJob) == "":
		w.checks.jobRounds++
		if w.stateOf(machines.JobInstance(dealtJob, instanceID(2))).stat == nil {
			w.putNode(machines.JobInstance(dealtJob, instanceID(2)), "")
		} else {
			w.removeNode(machines.JobInstance(dealtJob, instanceID(2)))
		}
	}
}

func (p jobDealerProgram) unsettled(u *user) string {
	switch why := p.jobElectionProgram.unsettled(u); {
	case why != "" || !u.c.w.jobLed():
		return why
	case u.c.w.checks.jobRounds <= jobRounds:
		return "has not seen all changes of the job: " + u.c.w.jobLacks(dealtJob)
	}
	return u.c.w.jobLacks(dealtJob)
}

// jobLacks returns what the job's nodes lack for each item to have an owner that lives, "" for nothing.
func (w *harness) jobLacks(job string) string {
	config, _, err := w.ens.Committed().Get(machines.JobConfigNode(job))
	c, wrong := machines.ParseJobConfig(config)
	if err != nil || wrong != nil {
		return "the job has no configuration"
	}
	for _, path := range []string{machines.JobNecessary(job), machines.JobProcessing(job)} {
		if w.stateOf(path).stat != nil {
			return path + " stays"
		}
	}
	for item := range c.Total {
		owner, _, err := w.ens.Committed().Get(machines.JobItem(job, item, machines.ItemInstance))
		if err != nil || w.stateOf(machines.JobInstance(job, string(owner))).stat == nil {
			return fmt.Sprintf("item %d belongs to %q", item, owner)
		}
	}
	for _, name := range w.ens.Children(machines.JobItems(job)) {
		if n, _ := strconv.Atoi(name); n >= c.Total {
			return fmt.Sprintf("item %s is left of a larger total", name)
		}
	}
	return ""
}

// dealtJobs returns the jobs of the world whose items programs deal.
func (w *harness) dealtJobs() []string {
	return slices.DeleteFunc([]string{dealtJob, workedJob}, func(job string) bool {
		return !slices.Contains(w.OwnDirs, job+"/leader/election")
	})
}

// jobCommitted checks a transaction of a dealer: its session leads the job, and no instance runs an item.
func (k *checks) jobCommitted(t zkmem.Txn) {
	for _, job := range k.w.dealtJobs() {
		dealt := slices.ContainsFunc(creations(t), func(path string) bool {
			item := strings.HasPrefix(path, machines.JobItems(job)+"/")
			return t.Session != 0 && item && base(path) == machines.ItemInstance
		})
		flagged := t.Session != 0 && slices.Contains(creations(t), machines.JobNecessary(job))
		if dealt || flagged {
			_, marker, err := k.w.ens.Committed().Get(machines.JobMarker(job))
			if err != nil || marker.EphemeralOwner != t.Session {
				k.fail("only the leader deals", "session %x deals, and the marker is %v (%v): %s",
					t.Session, marker, err, brief(t))
			}
		}
		if dealt && k.jobRuns != "" {
			k.fail("nothing runs while items are dealt", "%s while %s", brief(t), k.jobRuns)
		}
		k.jobRuns = k.w.jobRuns(job)
	}
}

// jobRuns returns which item an instance that lives runs, "" if none does.
func (w *harness) jobRuns(job string) string {
	for _, name := range w.ens.Children(machines.JobItems(job)) {
		item, _ := strconv.Atoi(name)
		data, _, err := w.ens.Committed().Get(machines.JobItem(job, item, machines.ItemRunning))
		if err == nil && w.stateOf(machines.JobInstance(job, string(data))).stat != nil {
			return fmt.Sprintf("%s runs item %d", data, item)
		}
	}
	return ""
}

// dealersMulti changes the transactions of dealers.
func dealersMulti(change func(ops []events.Op) []events.Op) func(*client, []engine.Addressed) []engine.Addressed {
	return editEffects(func(_ *client, id events.ID, e events.Effect) events.Effect {
		if m, multi := e.(events.Multi); multi && strings.HasPrefix(string(id), "jobdealer-") {
			m.Ops = change(slices.Clone(m.Ops))
			return m
		}
		return e
	})
}

// withoutNodes returns a change that leaves out the operations on nodes with one of these names.
func withoutNodes(names ...string) func(ops []events.Op) []events.Op {
	return func(ops []events.Op) []events.Op {
		return slices.DeleteFunc(ops, func(op events.Op) bool { return slices.Contains(names, base(op.Path)) })
	}
}

var plantedDealers = []Plant{
	{Name: "job dealer: it deals after its term", Shape: inDir(dealtElection),
		Stepped: dealersMulti(func(ops []events.Op) []events.Op { return ops[2:] })},
	{Name: "job dealer: it does not prove that nothing runs", Shape: inDir(dealtElection),
		Stepped: dealersMulti(withoutNodes(machines.ItemRunning))},
	{Name: "job dealer: it leaves what a dead leader began", Shape: inDir(dealtElection),
		Stepped: dealersMulti(withoutNodes("processing"))},
	{Name: "job dealer: what was flagged before its term is nobody's to deal", Shape: inDir(dealtElection),
		Mutations: inOne("jobdealer", func() mutate.Mutation {
			return mutate.Mutation{Actions: map[string]acting{
				"noteNode": func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
					if length(model, "guards") > 0 || base(ev.Path) != "necessary" {
						do(ev)
					}
				}}}
		})},
	{Name: "job dealer: items of a dead instance stay its", Shape: inDir(dealtElection),
		Mutations: inOne("jobdealer", func() mutate.Mutation { return withGuard("mustFlag", never) })},
}
