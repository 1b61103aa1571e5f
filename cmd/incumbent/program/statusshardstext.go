package program

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// groupObject is a group of Shards, for --json.
type groupObject struct {
	Path    string         `json:"path"`
	Missing bool           `json:"missing"`
	Shards  int            `json:"shards"`            // 0: there is no assignment, or it cannot be read
	Written string         `json:"written,omitempty"` // when the assignment was
	Error   string         `json:"error,omitempty"`   // why the assignment cannot be read
	Writer  *participant   `json:"writer,omitempty"`  // who writes the assignment
	Writers []participant  `json:"writers"`
	Members []memberObject `json:"members"`
	Owners  []ownerObject  `json:"owners"` // of each shard, in order
	Foreign int            `json:"foreign"`
}

// memberObject is a member, for --json.
type memberObject struct {
	ID         string `json:"id"`
	Node       string `json:"node"`
	Session    string `json:"session,omitempty"`
	Weight     int    `json:"weight"`
	MaxOwned   int    `json:"maxOwned"`
	Owns       []int  `json:"owns"`
	Unhealthy  bool   `json:"unhealthy"`
	Replaced   bool   `json:"replaced"` // a newer member has the same id
	Persistent bool   `json:"persistent"`
	Created    string `json:"created,omitempty"`
	Changed    string `json:"changed,omitempty"` // when its shards were, or its health
	Error      string `json:"error,omitempty"`   // why its node cannot be read
}

// ownerObject is one shard, for --json.
type ownerObject struct {
	Shard        int    `json:"shard"`
	State        string `json:"state"`
	Owner        string `json:"owner"` // the id; "": nobody owns it
	OwnerNode    string `json:"ownerNode"`
	Assigned     string `json:"assigned"` // to which id
	AssignedNode string `json:"assignedNode"`
}

func (g *shardGroup) object() groupObject {
	o := groupObject{Path: g.path, Missing: g.missing, Shards: len(g.states()), Foreign: g.foreign,
		Writers: lineObject(g.path, g.writers).Participants, Members: []memberObject{}, Owners: []ownerObject{}}
	if g.written {
		o.Written = g.writtenAt.UTC().Format(time.RFC3339Nano)
	}
	if g.trouble != nil {
		o.Error = events.Foreign(g.trouble.Error(), events.MaxText)
	}
	if first, there := g.writers.First(); there {
		p := participantObject(1, first)
		o.Writer = &p
	}
	for _, m := range g.members {
		one := memberObject{ID: cut(m.ID), Node: cut(m.node), Weight: m.Weight, MaxOwned: m.MaxOwned,
			Owns: append([]int{}, m.Owns...), Unhealthy: m.Unhealthy, Replaced: g.replaced(m),
			Persistent: m.persistent()}
		if m.err != nil {
			one.Error = events.Foreign(trimLibrary(m.err).Error(), events.MaxText)
		}
		if !m.stat.Ctime.IsZero() {
			one.Created, one.Changed = m.stat.Ctime.UTC().Format(time.RFC3339Nano),
				m.stat.Mtime.UTC().Format(time.RFC3339Nano)
		}
		if m.stat.EphemeralOwner != 0 {
			one.Session = hex(m.stat.EphemeralOwner)
		}
		o.Members = append(o.Members, one)
	}
	for shard, s := range g.states() {
		o.Owners = append(o.Owners, ownerObject{shard, s.state, cut(g.id(s.owner)), cut(s.owner),
			cut(g.id(s.assigned)), cut(s.assigned)})
	}
	return o
}

// persistent reports whether no session owns the member's node, as far as it could be read.
func (m memberState) persistent() bool { return !m.stat.Ctime.IsZero() && m.stat.EphemeralOwner == 0 }

// maxMemberName is how much of an id fits into a row.
const maxMemberName = 30

// named returns the id of the member that has a node, as it is shown.
func (g *shardGroup) named(node string) string {
	if m := g.member(node); m != nil && m.err != nil || g.id(node) == "" {
		return "the member of node " + events.Foreign(node, events.MaxName)
	}
	return events.Quote(g.id(node), maxMemberName)
}

// showShards prints a group.
func (a *app) showShards(g *shardGroup) {
	path := events.Foreign(g.path, events.MaxText)
	if g.missing {
		a.Out.Line("%s: there is no such directory: no group of Shards has run there, or the path is mistyped", path)
		return
	}
	now := time.Now()
	count := cli.Plural(len(g.members), "member")
	switch {
	case g.trouble != nil:
		a.Out.Line("%s: %s", path, count)
		a.Out.Line("  %s", a.Out.Red("the assignment cannot be read, so nobody works: "+
			events.Foreign(g.trouble.Error(), events.MaxText)))
	case !g.written:
		a.Out.Line("%s: %s; there is no assignment", path, count)
	default:
		a.Out.Line("%s: %s, %s; the assignment is from %s ago", path, cli.Plural(g.plan.Shards, "shard"), count,
			ago(now.Sub(g.writtenAt)))
	}
	if p, blocked := g.writers.Blocker(); blocked {
		a.Out.Line("  %s", a.Out.Red("nobody writes the assignment: "+blockedBy(p)))
	} else if p, there := g.writers.First(); there {
		a.Out.Line("  %s writes the assignment, %d in line for that", a.Out.Bold(name(p)), len(g.writers.Participants))
	} else {
		a.Out.Line("  nobody writes the assignment")
	}
	a.showMoves(g)
	a.showMembers(g, now)
	if text := g.foreignText(); text != "" {
		a.Out.Line("  and %s", text)
	}
}

// showMoves prints the shards that are not just owned, those of one kind together.
func (a *app) showMoves(g *shardGroup) {
	var order []shardState
	sets := map[shardState]machines.ShardSet{}
	for shard, s := range g.states() {
		if s.state == shardOwned {
			continue
		}
		if sets[s] == nil {
			order = append(order, s)
		}
		sets[s] = append(sets[s], shard)
	}
	for _, s := range order {
		text := cli.Plural(len(sets[s]), "shard") + " " + g.moveText(s)
		if s.state == shardTwice || s.state == shardFree {
			text = a.Out.Red(text)
		}
		a.Out.Line("  %s:", text)
		a.showSet(sets[s])
	}
}

// moveText says what shards that are not just owned wait for.
func (g *shardGroup) moveText(s shardState) string {
	owner, assigned := g.named(s.owner), g.named(s.assigned)
	switch m := g.member(s.owner); {
	case s.state == shardTwice:
		return "owned twice, by " + owner + " and another: this library writes no such nodes"
	case m != nil && m.err != nil:
		return "may be owned by " + owner + ", which cannot be read: waiting until it is gone"
	case s.state == shardMoving:
		return "moving to " + assigned + " when the work of " + owner + " on them has returned"
	case s.state == shardClaiming:
		return "assigned to " + assigned + ", not claimed yet"
	case s.state == shardGone:
		return "assigned to " + assigned + ", which is gone: waiting for the next assignment"
	case s.state == shardLeaving:
		return "leaving " + owner + "; no other member may take them"
	}
	return "without an owner: no member may take them (unhealthy, or has its most)"
}

// showMembers prints the members, and the shards of each.
func (a *app) showMembers(g *shardGroup, now time.Time) {
	rows := [][]string{{"ID", "OWNS", "WEIGHT", "MOST", "MEMBER FOR", "SAME FOR"}}
	for _, m := range g.members {
		row := []string{"?", "-", "-", "-", "-", "-"}
		if m.err == nil {
			row = []string{events.Quote(m.ID, maxMemberName), strconv.Itoa(len(m.Owns)), strconv.Itoa(m.Weight),
				strconv.Itoa(m.MaxOwned), "", ""}
		}
		if !m.stat.Ctime.IsZero() {
			row[4], row[5] = ago(now.Sub(m.stat.Ctime)), ago(now.Sub(m.stat.Mtime))
		}
		rows = append(rows, row)
	}
	if len(g.members) == 0 {
		return
	}
	table := cli.Aligned(rows)
	a.Out.Row(a.Out.Dim(table[0]))
	for i, m := range g.members {
		a.Out.Row(table[i+1])
		for _, text := range g.remarks(m) {
			a.Out.Line("     %s", a.Out.Red(text))
		}
		a.showSet(m.Owns)
	}
}

// remarks says what is wrong with a member.
func (g *shardGroup) remarks(m memberState) (all []string) {
	node := events.Foreign(m.node, events.MaxName)
	if m.err != nil {
		all = append(all, fmt.Sprintf("node %s is unreadable: %s", node,
			events.Foreign(trimLibrary(m.err).Error(), events.MaxText)))
	}
	if m.persistent() {
		all = append(all, fmt.Sprintf("node %s is PERSISTENT: no session owns it, so it never goes: delete it by hand",
			node))
	}
	if m.Unhealthy {
		all = append(all, "UNHEALTHY, or it ends: it gets no shards")
	}
	if g.replaced(m) {
		all = append(all, "a newer member has the same id: this one gets no shards")
	}
	if beyond := g.beyond(m); len(beyond) > 0 {
		all = append(all, fmt.Sprintf("it has shards from %d on: it is for more shards than the assignment", beyond[0]))
	}
	return all
}

// showSet prints shards, on as many lines as they need.
func (a *app) showSet(set machines.ShardSet) {
	const indent = "     "
	text, _ := set.MarshalText() // which never fails
	for len(text) > 0 {
		n := len(text)
		if most := maxColumns - len(indent); n > most {
			n = strings.LastIndexByte(string(text[:most]), ',') + 1
		}
		a.Out.Row(indent + string(text[:n]))
		text = text[n:]
	}
}

// foreignText says how many children are foreign; "" for none.
func (g *shardGroup) foreignText() string {
	switch g.foreign {
	case 0:
		return ""
	case 1:
		return "1 child that belongs to no group of Shards: ignored"
	}
	return fmt.Sprintf("%d children that belong to no group of Shards: ignored", g.foreign)
}
