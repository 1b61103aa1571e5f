package play

import (
	"fmt"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Promise is something that is checked while a world is played.
type Promise struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// The promises that are checked: docs/promises.md has all of them.
const (
	oneLeader   = "one-leader"
	fewPermits  = "permits"
	lockExcl    = "writer-alone"
	withNode    = "with-its-node"
	firstInLine = "first-in-line"
	tokensGrow  = "tokens-grow"
	halfTimeout = "half-a-timeout"
	onePlace    = "one-place"
	together    = "together"
	oneOwner    = "one-owner"
	workFirst   = "work-first"
)

var promiseTexts = []Promise{
	{oneLeader, "At most one participant at a time may believe that it leads or holds"},
	{lockExcl, "A participant that writes may not believe together with another one"},
	{fewPermits, "No more permits are held at a time than there are"},
	{withNode, "Nobody may believe when the own node is gone, unless others have just deleted it or ended its session"},
	{firstInLine, "Belief begins under a node of the own session that nobody is ahead of"},
	{tokensGrow, "Each term that excludes others has a greater token than the one before"},
	{halfTimeout, "Belief lasts for half a session timeout after a request that the ensemble confirmed, at most"},
	{onePlace, "A participant has one place in the line, also after a lost reply"},
	{together, "Nobody is inside a double barrier before enough have been there together"},
	{oneOwner, "At most one member at a time may believe that it owns a shard"},
	{workFirst, "A shard of a member that is there moves only after the work on it has returned"},
}

// checkedOf has the promises that are checked, by what a recipe grants.
var checkedOf = map[machines.Grant][]string{
	machines.GrantsLeadership:    {oneLeader, withNode, firstInLine, tokensGrow, halfTimeout, onePlace},
	machines.GrantsLock:          {oneLeader, withNode, firstInLine, tokensGrow, halfTimeout},
	machines.GrantsReadWriteLock: {lockExcl, withNode, firstInLine, halfTimeout},
	machines.GrantsPermits:       {fewPermits, withNode, halfTimeout},
	machines.GrantsEntry:         {together},
	machines.GrantsShards:        {oneOwner, workFirst, withNode, tokensGrow, halfTimeout},
}

// promisesOf returns those that are checked for a recipe.
func promisesOf(recipe string) (all []Promise) {
	kept := checkedOf[machines.TraitsOf(recipe).Grants]
	for _, p := range promiseTexts {
		if slices.Contains(kept, p.Name) {
			all = append(all, p)
		}
	}
	return all
}

// violation is a broken promise.
type violation struct {
	at      int64
	promise string
	text    string
	who     []string
}

// promises checks a world while it runs.
type promises struct {
	run      *run
	checked  []string
	timeout  time.Duration
	dir      string   // of the line
	labels   []string // of the names in the line
	broken   []violation
	seen     map[string]bool // violations that are there already
	beliefs  []*belief       // by participant; nil: none
	last     int64           // the greatest token of a term that excludes others
	lastPath string          // and its node
	asked    []int64         // by participant: when the last request left that was confirmed, by its clock
	ended    map[string]bool // nodes that others have ended
	together map[string]bool // nodes that stood in the barrier with enough others
	owns     []*belief       // in shards
	left     []*belief       // in shards, which have ended: work may go on
	tokens   map[int]int64   // by shard: the greatest
}

func newPromises(r *run) *promises {
	n := len(r.records)
	p := &promises{run: r, timeout: scenarioNamed(r.script.Scenario).timeout, seen: map[string]bool{},
		beliefs: make([]*belief, n), asked: make([]int64, n),
		ended: map[string]bool{}, together: map[string]bool{}, tokens: map[int]int64{}}
	p.dir, p.labels = lineOf(r.script.Recipe)
	for _, one := range promisesOf(r.script.Recipe) {
		p.checked = append(p.checked, one.Name)
	}
	return p
}

// checks reports whether a promise is checked.
func (p *promises) checks(name string) bool { return slices.Contains(p.checked, name) }

// fail notes that a promise is broken, once for the same text.
func (p *promises) fail(promise string, who []string, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if key := promise + text; p.checks(promise) && !p.seen[key] {
		p.seen[key] = true
		p.broken = append(p.broken, violation{p.run.w.Now(), promise, text, who})
	}
}

// committed checks a transaction.
func (p *promises) committed(proposal *world.Proposal) {
	for _, path := range deletions(proposal.Txn) {
		p.ended[path] = proposal.Operator
		p.nodeDeleted(path, proposal.Operator)
	}
	if proposal.Txn.Code != zkmem.OpError {
		p.onePlaceEach(proposal.Txn)
		p.permitsHeld()
		p.gathered()
	}
}

// deletions returns the nodes that a transaction deleted.
func deletions(t zkmem.Txn) (gone []string) {
	switch t.Code {
	case zkmem.OpDelete:
		return []string{t.Path}
	case zkmem.OpMulti:
		for _, one := range t.Ops {
			gone = append(gone, deletions(one)...)
		}
		return gone
	}
	return t.Ephemerals
}

// notice checks the beginnings and ends of terms.
func (p *promises) notice(c *world.Client, id events.ID, n events.Notify) {
	if c.Main() != id {
		return
	}
	switch n.What {
	case events.Elected:
		p.elected(c, n)
	case events.Stopped:
		p.beliefs[c.ID()] = nil
	case events.Delivered:
		p.owned(c, n)
	case events.Withdrawn:
		p.disowned(c, n)
	}
}

// replied notes when the request of the last confirmation left.
func (p *promises) replied(c *world.Client, a *world.Packet, ev events.Event) {
	if a.SentAt == 0 || ev.Code != events.OK || a.Conn != c.Conn() {
		return
	}
	if _, sync := a.Request.(events.Sync); sync || world.Writes(a.Request) {
		p.asked[c.ID()] = max(p.asked[c.ID()], a.SentAt)
	}
}
