package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// checks hold the promises against the committed history, at every event.
type checks struct {
	w             *harness
	broken        []Violation
	beliefs       []*belief
	tokens        map[string]token
	revived       map[string]bool // nodes that came back with a backup
	listChangedAt int64           // when an access list was changed last; 0: never
	unreadable    map[string]bool // nodes that their own session may not read
	// nodes that were deleted when nobody could read them: their watchers were not told, and never will be
	deletedUnreadable map[string]bool
	worstBelief       time.Duration // the longest belief after a deletion by others
	nodesAsked        map[string]int
	wokenBy           map[string]map[string]bool // deleted node → the machines that its deletion woke
	ended             map[string]int64           // node → the transaction that deleted it
	hasLed            map[string]*belief         // nodes by which somebody has led, and the term of it that began last
	othersChanged     bool                       // somebody changed a line without the product
	writes            int64                      // how many guarded writes were asked for
	written           map[int64]int              // guarded write → how often it was committed
	writtenTokens     map[string]int64           // line → the highest token that wrote
	plain             plainDeletes

	histories        []*nodeHistory            // of the nodes that a check asks about
	writeCalls       map[machineKey]*writeCall // what calls that write asked for
	writeCallList    []*writeCall              // the same, in order
	memberNodes      map[string]*user          // node of a fixed name → the handle that asked for it
	stoodWithEnough  map[string]bool           // nodes that existed in a double barrier with enough others
	persistentOwners map[string]*user          // path → the handle that has its persistent node there
	owners           map[string]int64          // path → the session that created the node
	createdAt        map[string]int64          // path → the transaction that created the node: names may come again
	createdBy        map[int64]string          // czxid → the handle that created the persistent node
	groups           []string                  // the members of the group, one state after the other
	jobRounds        int                       // how often a healed world has changed its job
	workedJob        *workedJobState
	jobRuns          string          // which item an instance runs, before this transaction
	crumb            string          // the data of the election's crumb, before this transaction
	epochGone        bool            // somebody has deleted the election's epoch
	treeRounds       int             // how often a healed world has changed its tree
	shardRuns        []*shardRun     // which member believes in which shard
	shardTokens      map[int]int64   // the highest token of each shard; nil: data were replaced
	evicted          map[string]bool // nodes that operators have deleted
}

// Violation is a broken promise.
type Violation struct {
	Check, Text string
	At          time.Duration
}

type token struct {
	value int64
	path  string
}

func newChecks(w *harness) *checks {
	return &checks{
		w: w, plain: newPlainDeletes(), tokens: map[string]token{}, revived: map[string]bool{},
		unreadable: map[string]bool{}, deletedUnreadable: map[string]bool{},
		nodesAsked: map[string]int{}, wokenBy: map[string]map[string]bool{}, ended: map[string]int64{},
		hasLed:  map[string]*belief{},
		written: map[int64]int{}, writtenTokens: map[string]int64{}, writeCalls: map[machineKey]*writeCall{},
		memberNodes: map[string]*user{}, stoodWithEnough: map[string]bool{}, persistentOwners: map[string]*user{},
		owners: map[string]int64{}, createdAt: map[string]int64{}, createdBy: map[int64]string{}, groups: []string{""},
		workedJob: &workedJobState{}, shardTokens: map[int]int64{}, evicted: map[string]bool{},
	}
}

func (k *checks) clean() bool { return len(k.broken) == 0 }

func (k *checks) fail(check, format string, args ...any) {
	v := Violation{check, fmt.Sprintf(format, args...), time.Duration(k.w.Now())}
	k.broken = append(k.broken, v)
	k.w.Stop()
	k.w.Log("VIOLATION %s: %s", check, v.Text)
}

// committed checks a transaction when it becomes part of the history.
func (k *checks) committed(p *world.Proposal) {
	k.w.Log("commit %x by %x: %s", p.Txn.Zxid, p.Txn.Session, brief(p.Txn))
	k.updateHistories()
	k.treeCommitted(p.Txn)
	k.barrierCommitted()
	k.queueCommitted(p)
	k.persistentCommitted(p.Txn, p)
	k.writeCommitted(p)
	k.groupCommitted()
	k.jobCommitted(p.Txn)
	k.workDeleted(p)
	k.crumbCommitted(p)
	k.memberDeleted(p)
	for _, path := range deletions(p.Txn) {
		k.nodeDeleted(path, p)
		k.checkDeleter(path, p)
		if p.Txn.Code != zkmem.OpCloseSession && !slices.Contains(creations(p.Txn), path) {
			k.deletedByOwner(path, p)
		}
	}
	for _, path := range creations(p.Txn) {
		k.nodeCreated(path, p.Txn)
	}
	switch p.Txn.Code {
	case zkmem.OpCreate:
		k.firstIsOldest(p)
	case zkmem.OpMulti:
		if g := guardedWriteOf(p); g != nil {
			k.guardedCommitted(g, p)
		}
		k.permitsCommitted(p)
	case zkmem.OpSetACL:
		k.listChangedAt = k.w.Now()
		k.unreadable[p.Txn.Path] = !k.ownerReads(p.Txn)
	}
	for _, path := range deletions(p.Txn) {
		k.deletedUnreadable[path] = k.deletedUnreadable[path] || k.unreadable[path]
	}
}

// ownerReads reports whether a node's own client may read it under the access list of a
// transaction; for a node without one, whether everybody may.
func (k *checks) ownerReads(t zkmem.Txn) bool {
	var who zkmem.Auth
	if _, stat, err := k.w.ens.Committed().Get(t.Path); err == nil {
		if c := k.w.clientOf(stat.EphemeralOwner); c != nil {
			who = c.Identity()
		}
	}
	return world.Readable(t.ACL, who)
}

// deletions returns the nodes that a transaction deleted.
func deletions(t zkmem.Txn) (gone []string) {
	switch t.Code {
	case zkmem.OpDelete:
		return []string{t.Path}
	case zkmem.OpMulti:
		for _, sub := range t.Ops {
			gone = append(gone, deletions(sub)...)
		}
		return gone
	}
	return t.Ephemerals
}

// updateHistories adds to the histories what the nodes are now.
func (k *checks) updateHistories() {
	for _, p := range k.histories {
		p.update(k.w)
	}
}

func brief(t zkmem.Txn) string {
	switch t.Code {
	case zkmem.OpError:
		return "refused: " + t.Err.Error()
	case zkmem.OpMulti:
		var all []string
		for _, sub := range t.Ops {
			all = append(all, brief(sub))
		}
		return "{" + strings.Join(all, "; ") + "}"
	case zkmem.OpCloseSession:
		return "close session " + strings.Join(t.Ephemerals, " ")
	}
	return t.Code.String() + " " + t.Path
}

// nodeDeleted checks that nobody believes in a node that does not exist. A deletion by
// others is excused until its watch event can have come.
func (k *checks) nodeDeleted(path string, p *world.Proposal) {
	k.ended[path] = p.Txn.Zxid
	k.placeKept(path, p)
	if p.Txn.Code == zkmem.OpCloseSession && p.Server == nil { // nobody asked for it
		k.sessionExpired(path)
	}
	for _, b := range k.beliefs {
		if b.path != path || b.isReplaced(k) {
			continue
		}
		if p.Operator || k.overtaken(path, p) || p.Txn.Code == zkmem.OpCloseSession && b.u.c.shortenedUnheard() {
			b.deletedAt, b.excused, b.unreadable = k.w.Now(), true, k.unreadable[path]
			continue
		}
		if !b.u.c.believes(b) {
			continue
		}
		why := "its session expired"
		if p.Txn.Code == zkmem.OpDelete {
			why = "it was deleted by its own session"
		}
		k.fail("belief within the life of the own node", "%s leads %s, which is gone: %s; believed for %s more",
			b.u.name(), path, why, time.Duration(b.u.c.Deadline().Until-b.u.c.Clock()))
	}
}

// firstIsOldest checks that the order by number is the order by czxid.
func (k *checks) firstIsOldest(p *world.Proposal) {
	dir, name := split(p.Txn.Path)
	if k.othersChanged || !slices.Contains(k.w.lines(), dir) {
		return
	}
	for _, label := range labels() {
		if _, fits := machines.ParsePlace(name, label); !fits {
			continue
		}
		line, _ := machines.Line(k.w.ens.Children(dir), label)
		for i := 1; i < len(line); i++ {
			_, a, errA := k.w.ens.Committed().Get(dir + "/" + line[i-1].Name)
			_, b, errB := k.w.ens.Committed().Get(dir + "/" + line[i].Name)
			if errA == nil && errB == nil && a.Czxid >= b.Czxid {
				k.fail("one is first", "%s is before %s and was created later", line[i-1].Name, line[i].Name)
			}
		}
	}
}

// split returns the directory and the name of a path.
func split(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	return path[:i], path[i+1:]
}

// record checks one record of a machine.
func (k *checks) record(c *client, r events.Record) {
	c.enrolmentAnswered(r)
	c.transitioned(r)
	k.answerTaken(c, r)
	if u := c.user(r.Machine); u != nil {
		u.versionRead(r)
	}
	if u := c.user(r.Machine); r.From == "listing" && r.To == "waiting" && u != nil && u.queueHandle.locks != nil {
		k.itemsListed(u, u.queueHandle.lists[r.Event.Request])
	}
	k.withdrawalTold(c, r)
	k.healthNoted(c, r)
	if r.Row == events.RowRefused && r.Event.Kind == events.CommandOpen {
		k.fail("every machine opens", "%s: %v", r.Machine, r.Effects)
	}
	if r.Event.Kind == events.WatchDeleted && r.To == "listing" && (r.From == "waiting" || r.From == "blocked") ||
		r.Event.Kind == events.WatchDeleted && r.To == "leading" {
		k.wakesOne(c, r)
	}
}

// wakesOne checks that one deletion wakes at most one machine.
func (k *checks) wakesOne(c *client, r events.Record) {
	// a writer's deletion wakes all readers behind it
	if u := c.user(r.Machine); u != nil && u.call.options["reads"] == "true" {
		return
	}
	key := fmt.Sprint(k.w.ens.Generation(), r.Event.Path)
	if k.wokenBy[key] == nil {
		k.wokenBy[key] = map[string]bool{}
	}
	k.wokenBy[key][fmt.Sprint(c.ID(), r.Machine)] = true
	if len(k.wokenBy[key]) > 1 && !k.othersChanged {
		k.fail("one departure wakes one", "the departure of %s woke %d", r.Event.Path, len(k.wokenBy[key]))
	}
}

func (k *checks) granted(u *user, n events.Notify) {
	if !u.leads {
		k.fail("work is granted to a leader", "%s was granted %d while not leading", u.name(), n.Work)
	}
}

// asked limits how often a machine asks for a node.
func (k *checks) asked(c *client, a engine.Addressed) {
	k.writeSent(c, a)
	k.enrolmentAsked(c, a)
	e, ok := a.Effect.(events.Create)
	if u := c.user(a.From); ok && u != nil && u.role.recipe == "doublebarrier" && e.Mode == events.Ephemeral {
		k.memberNodeAsked(u, e.Path)
	}
	if !ok || e.Mode != events.EphemeralSequential {
		return
	}
	if u := c.user(a.From); u != nil {
		if len(u.works) > 0 {
			k.fail("no new enrolment while work runs",
				"client %d: %s asks for a node while its work runs", c.ID(), a.From)
		}
		k.tryAsks(u)
	}
	key := fmt.Sprint(c.ID(), a.From, k.w.Now()/int64(time.Second))
	k.nodesAsked[key]++
	if k.nodesAsked[key] > 60 {
		k.fail("resets per second", "client %d: %s asked for %d nodes within a second", c.ID(), a.From,
			k.nodesAsked[key])
	}
}

// dataReplaced forgets what belongs to the history before.
func (k *checks) dataReplaced() {
	k.othersChanged = true
	for _, c := range k.w.clients {
		c.dataReplacedAt = c.Clock()
	}
	if k.w.queue != nil {
		k.w.queue.rolledBack = true
		clear(k.w.queue.lockOwners)
	}
	k.updateHistories()
	k.groupCommitted()
	k.workReplaced()
	k.shardsReplaced()
	clear(k.tokens)
	clear(k.writtenTokens)
	clear(k.ended)
	for path := range k.createdAt {
		_, stat, _ := k.w.ens.Committed().Get(path)
		k.createdAt[path] = stat.Czxid
	}
	clear(k.owners)
	for _, dir := range k.w.lines() {
		for _, name := range k.w.ens.Children(dir) {
			k.revived[dir+"/"+name] = true
		}
	}
	for _, b := range k.beliefs {
		_, stat, err := k.w.ens.Committed().Get(b.path)
		switch {
		case err == nil && stat.Czxid == b.token && b.deletedAt != 0:
			// what was wiped is restored: the deletion is undone
			b.deletedAt = 0
		case b.excused:
		case err != nil || stat.Czxid != b.token:
			b.deletedAt, b.excused = k.w.Now(), true
		case k.nodeBefore(b) != "": // a client that rides the outage out does not list the line again
			b.excused = true
		}
	}
}
