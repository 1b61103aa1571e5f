package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// shardsPath is the group whose shards programs work on, and shardsInGroup how many it has.
const (
	shardsPath    = "/app/shards"
	shardsInGroup = 5
)

// shardsRole is the role of a member that owns shards. No shard has two owners by the clock. In a healed world each
// shard has one, and no member has more than one shard more than its share.
var shardsRole = &role{
	recipe:   "shards",
	separate: true,
	dirs: dirTraits{own: shardsPath, stays: []string{"assignment", "members", "writers"},
		sub: []string{shardsPath, shardsPath + "/members", shardsPath + "/writers"}},
	program: shardsProgram{},
	states: stateTraits{
		final: []engine.State{"idle", "closed", ""},
		wakes: map[engine.State]waking{
			"reading": answered, "creating": answered, "writing": answered, "idle": needs(1), "draining": working,
			"pausing": timed, "leaving": hasLatch,
		},
		faults: map[engine.State][]string{
			"writing": {"cut", "throttle"}, "creating": {"cut", "throttle"}, "idle": {"delete the own node", "cut"},
			"leaving": {"cut", "throttle"},
		},
	},
	plants: plantedShards,
}

type shardsProgram struct{ healthProgram }

// act has the member be unhealthy from time to time.
func (shardsProgram) act(u *user, n int) {
	if n > 9 {
		u.checkHealth(n == 10)
	}
}

func (shardsProgram) options(u *user, d *rand.Rand) map[string]string {
	return map[string]string{"instance": u.name(), "shards": strconv.Itoa(shardsInGroup), "settle": "3s",
		"healthFailures": "1"}
}

// owns reports whether a member's node is the handle's.
func (shardsProgram) owns(u *user, data string) bool {
	return data == u.name() || strings.HasPrefix(data, `{"id":"`+u.name()+`"`)
}

// noticed works on a shard that the machine says is this member's.
func (shardsProgram) noticed(u *user, n events.Notify) {
	switch n.What {
	case events.Delivered:
		u.c.w.checks.shardBegins(u, n)
		u.runCallback(func() {
			d, lasts := u.dice(), 2*u.c.w.Timeout
			if world.OneIn(d, 6) {
				lasts = world.Between(d, 0, time.Second)
			}
			u.c.RunAfter(lasts, func() { u.endWork(n.Work) })
		})
	case events.Withdrawn:
		u.c.w.checks.shardWithdrawn(u, n.Work)
		u.runCallback(func() {
			u.c.RunAfter(world.Between(u.dice(), 0, 2*time.Second), func() { u.endWork(n.Work) })
		})
	}
}

// workReturned says which shard's work has returned.
func (shardsProgram) workReturned(_ *user, work uint64, ev *events.Event) { ev.Work = work }

// shardRun is one shard of one member, from the notice that begins belief to the one that ends it.
type shardRun struct {
	u       *user
	shard   int
	session int64
	path    string // of the member's node
	token   int64
	excused bool // others deleted that, or replaced all data
}

// believed reports whether the member may believe that the shard is its own.
func (r *shardRun) believed() bool {
	d := r.u.c.Deadline()
	return d.Session == r.session && r.u.c.Clock() < d.Until
}

// shardBegins checks the beginning of a member's belief in a shard.
func (k *checks) shardBegins(u *user, n events.Notify) {
	r := &shardRun{u: u, shard: int(n.Work) - 1, session: n.Session, path: n.Path, token: n.Token}
	r.excused = u.c.dataReplacedAt != 0 && u.c.confirmed < u.c.dataReplacedAt || k.evicted[n.Path]
	k.w.Log("%s OWNS shard %d token=%d", u.name(), r.shard, r.token)
	if u.works[n.Work] {
		k.fail("no new term before the work of the last", "%s begins shard %d while work on it runs", u.name(), r.shard)
	}
	if d := u.c.Deadline(); !u.c.Interrupted() && (d.Session != n.Session || u.c.Clock() >= d.Until) {
		k.fail("a term begins under a confirmation", "%s begins shard %d %s after its deadline", u.name(), r.shard,
			time.Duration(u.c.Clock()-d.Until))
	}
	u.works[n.Work] = true
	u.serial = max(u.serial, n.Work)
	for _, o := range k.shardRuns {
		if o.u != u && o.shard == r.shard && !o.excused && !r.excused && o.believed() && r.believed() {
			k.fail("a shard has one owner", "%s and %s own shard %d", o.u.name(), u.name(), r.shard)
		}
	}
	if k.shardTokens != nil {
		if last := k.shardTokens[r.shard]; !r.excused && r.token < last && r.believed() {
			k.fail("tokens grow", "%s owns shard %d with token %d, after %d", u.name(), r.shard, r.token, last)
		}
		k.shardTokens[r.shard] = max(k.shardTokens[r.shard], r.token)
	}
	k.shardRuns = append(k.shardRuns, r)
}

// shardWithdrawn notes that a member does not believe in a shard any more.
func (k *checks) shardWithdrawn(u *user, work uint64) {
	before := len(k.shardRuns)
	k.shardRuns = slices.DeleteFunc(k.shardRuns,
		func(r *shardRun) bool { return r.u == u && uint64(r.shard)+1 == work })
	if before-len(k.shardRuns) != 1 {
		k.fail("every term ends once", "%s: shard %d ends %d times", u.name(), work-1, before-len(k.shardRuns))
	}
}

// memberDeleted checks that the node by which a member owns shards is not deleted while it believes, except by others.
func (k *checks) memberDeleted(p *world.Proposal) {
	for _, path := range deletions(p.Txn) {
		if p.Operator {
			k.evicted[path] = true
		}
		for _, r := range k.shardRuns {
			switch {
			case path != r.path || r.excused:
			case p.Operator, r.u.c.shortenedUnheard():
				r.excused = true
			case r.believed():
				k.fail("belief within the life of the own node", "%s owns shard %d, and %s is gone: %s",
					r.u.name(), r.shard, path, brief(p.Txn))
			}
		}
	}
}

// shardsReplaced excuses those who own shards by data that were replaced. Tokens promise nothing any more.
func (k *checks) shardsReplaced() {
	k.shardTokens = nil
	for _, r := range k.shardRuns {
		r.excused = true
	}
}

// ableMembers returns the members that have not ended.
func (w *harness) ableMembers() []*user {
	return slices.DeleteFunc(w.usersOf("shards"), func(u *user) bool {
		class := u.c.Engine().Class(u.id)
		return u.closing || u.c.Dead() || u.c.leaving || class == "" || class == events.ClassClosed
	})
}

// unsettled returns what the group lacks for each shard to have its owner, and each member its share.
func (shardsProgram) unsettled(u *user) string {
	k, able := u.c.w.checks, u.c.w.ableMembers()
	if !slices.Contains(able, u) {
		return ""
	}
	owned, counts := map[int]bool{}, map[*user]int{}
	for _, r := range k.shardRuns {
		if slices.Contains(able, r.u) && r.believed() {
			owned[r.shard] = true
			counts[r.u]++
		}
	}
	if len(owned) < shardsInGroup {
		return fmt.Sprintf("is a member of a group in which %d of %d shards have an owner", len(owned), shardsInGroup)
	}
	share := float64(shardsInGroup) / float64(len(able))
	if n := float64(counts[u]); n > share+1 || n < share-1 {
		return fmt.Sprintf("owns %d shards, and its share is %.1f", counts[u], share)
	}
	return ""
}

// shardsChartPlant returns a plant that changes the members' chart.
func shardsChartPlant(name string, m func() mutate.Mutation) Plant {
	return Plant{Name: "shards: " + name, Shape: inDir(shardsPath), Mutations: inOne("shards", m)}
}

var plantedShards = []Plant{
	{Name: "shards: others' nodes do not count", Shape: inDir(shardsPath),
		Posted: func(c *client, id events.ID, ev *events.Event) bool {
			u := c.user(id)
			if u != nil && u.role.recipe == "shards" && ev.Kind == events.ReplyStat && ev.Code == events.OK &&
				strings.HasPrefix(ev.Path, machines.ShardMembers(shardsPath)+"/") &&
				!u.role.program.owns(u, string(ev.Data)) {
				if m, err := machines.ParseShardMember(ev.Data); err == nil {
					ev.Data = []byte(fmt.Sprintf(`{"id":%q,"weight":%d,"maxOwned":%d,"owns":""}`,
						m.ID, m.Weight, m.MaxOwned))
				}
			}
			return true
		}},
	shardsChartPlant("nobody assigns", func() mutate.Mutation { return withGuard("mustAssign", never) }),
	shardsChartPlant("closing, it does not wait for the work", func() mutate.Mutation {
		return withGuard("drains", never)
	}),
}
