package small

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"path"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// Two worlds are the same state if they differ only in names: in which GUIDs,
// session ids, zxids, sequence numbers and request numbers were given out, in
// what time it is, and in which participant is called A. A state is written down
// as items, each of a sort that says what it may be called instead.

// sort is what an item means.
type sort uint8

const (
	as     sort = iota // a number or a word that stands for itself
	moment             // a time: how far it is from now
	order              // a zxid: its rank among all
	place              // a node's number: its rank among all
	token              // the token that the next must not be below: how many zxids are not above it
	mark               // a zxid that a reply's is compared with: its rank among marks
	level              // a reply's zxid: how many marks are not above it
	guid               // a GUID: the order in which they are met
	owner              // ZooKeeper's id of a session
	person             // a participant
	age                // the version of a node's data: whether it is the present one
)

// item is one fact of a state.
//
// A time before its floor counts as the floor less the slack; a floor to come is
// now.
type item struct {
	sort         sort
	n            int64
	floor, slack int64
	word         string
}

// digest is a state's name.
type digest [16]byte

// writer turns items into bytes under one naming.
type writer struct {
	w      *world
	ranked bool               // else what needs a rank is left out
	ranks  [level + 1][]int64 // by the sort that is ranked
	seats  []int              // by participant
	guids  map[string]int64
	owners map[int64]int64
	out    []byte
}

// canon returns the state's digest.
func (w *world) canon() digest {
	x := &writer{w: w, out: make([]byte, 0, 512), guids: map[string]int64{}, owners: map[int64]int64{}}
	common := w.items()
	for _, c := range w.clients {
		if c.shape == nil {
			c.shape = c.items()
		}
		x.collect(c.shape)
	}
	x.collect(common)
	x.rank()
	seated := x.seat()
	w.seated = seated
	x.ranked = true
	for seat, i := range seated {
		x.owners[w.clients[i].zkid] = int64(seat) + 1
	}
	x.owners[0] = 0
	for _, i := range seated {
		x.write(w.clients[i].shape)
	}
	x.write(common)
	sum := sha256.Sum256(x.out)
	return digest(sum[:16])
}

// collect notes what has to be ranked.
func (x *writer) collect(items []item) {
	for _, it := range items {
		if it.sort == order || it.sort == mark || it.sort == place {
			x.ranks[it.sort] = append(x.ranks[it.sort], it.n)
		}
	}
}

func (x *writer) rank() {
	for i := range x.ranks {
		slices.Sort(x.ranks[i])
		x.ranks[i] = slices.Compact(x.ranks[i])
	}
}

// seat puts the participants in an order that does not depend on what they are
// called: that of what can be said of each without the others.
func (x *writer) seat() []int {
	alone := make([]string, len(x.w.clients))
	seated := make([]int, len(x.w.clients))
	for i, c := range x.w.clients {
		x.out = x.out[:0]
		x.write(c.shape)
		alone[i], seated[i] = string(x.out), i
	}
	x.out = x.out[:0]
	if x.w.Shards == 0 { // members differ by their ids and weights
		slices.SortStableFunc(seated, func(a, b int) int { return cmp.Compare(alone[a], alone[b]) })
	}
	x.seats = make([]int, len(seated))
	for seat, i := range seated {
		x.seats[i] = seat
	}
	return seated
}

func (x *writer) write(items []item) {
	for _, it := range items {
		if !x.ranked && it.sort >= order {
			continue
		}
		x.out = append(x.out, byte(it.sort))
		switch it.sort {
		case as:
			x.number(it.n)
			x.number(int64(len(it.word)))
			x.out = append(x.out, it.word...)
		case moment:
			if it.n == 0 {
				x.number(1 << 40) // not a time
				continue
			}
			x.number(max(it.n, min(it.floor, x.w.now)-it.slack) - x.w.now)
		case order, mark, place:
			x.number(int64(index(x.ranks[it.sort], it.n)))
		case token:
			x.number(int64(index(x.ranks[order], it.n+1)))
		case level:
			x.number(int64(index(x.ranks[mark], it.n+1)))
		case guid:
			x.number(meet(x.guids, it.word))
		case owner:
			x.number(meet(x.owners, it.n))
		case person:
			x.number(int64(x.seats[it.n]))
		case age:
			x.number(x.w.tree.age(it.word, it.n))
		}
	}
}

func (x *writer) number(n int64) { x.out = binary.AppendVarint(x.out, n) }

func index(sorted []int64, n int64) int {
	i, _ := slices.BinarySearch(sorted, n)
	return i
}

// meet numbers things in the order in which they are met.
func meet[K comparable](known map[K]int64, k K) int64 {
	n, ok := known[k]
	if !ok {
		n = int64(len(known)) + 100 // above the seats
		known[k] = n
	}
	return n
}

// sheet collects items.
type sheet struct{ items []item }

func (s *sheet) add(sort sort, n int64) { s.items = append(s.items, item{sort: sort, n: n}) }
func (s *sheet) word(word string)       { s.items = append(s.items, item{word: word}) }
func (s *sheet) time(at, floor int64) {
	s.items = append(s.items, item{sort: moment, n: at, floor: floor})
}

func (s *sheet) flags(flags ...bool) {
	n := int64(1)
	for _, f := range flags {
		n <<= 1
		if f {
			n |= 1
		}
	}
	s.add(as, n)
}

// name is a node's path or name, or what a create asks for.
func (s *sheet) name(name string) {
	name = strings.TrimPrefix(name, dir+"/")
	if line, last := path.Split(name); line != "" {
		s.word(line)
		name = last
	}
	if p, ok := machines.ParsePlace(name, machines.LatchLabel); ok {
		s.word("place")
		s.items = append(s.items, item{sort: guid, word: p.GUID})
		s.add(place, p.Sequence)
		return
	}
	if rest, ok := strings.CutPrefix(name, "_c_"); ok {
		s.word("wish")
		s.items = append(s.items, item{sort: guid, word: rest[:36]})
		return
	}
	s.word(name)
}

func (s *sheet) tree(t *tree) {
	s.flags(t.dir)
	s.add(as, int64(len(t.nodes)))
	for _, n := range t.nodes {
		s.name(n.name)
		s.add(order, n.czxid)
		if s.flags(n.mzxid != n.czxid); n.mzxid != n.czxid {
			s.add(mark, n.mzxid)
		}
		s.add(owner, n.owner)
		s.add(person, int64(n.who))
		s.shardNode(t, dir+"/"+n.name)
	}
	if len(t.dirs) > 1 {
		s.shardNode(t, machines.ShardAssignment(dir))
		s.add(mark, t.changedAt)
	}
}

// items returns what is common to all clients.
func (w *world) items() []item {
	var s sheet
	s.add(as, int64(w.left))
	s.tree(&w.tree)
	s.add(token, w.token)
	for _, last := range w.tokens {
		s.add(token, last)
	}
	for _, c := range w.clients {
		if c.spare != nil {
			s.add(mark, c.spare.zxid)
			s.add(level, w.tree.zxid)
		}
	}
	return s.items
}

// items returns what can be said of one client.
func (c *client) items() []item {
	s := sheet{make([]item, 0, 128)}
	oldest := int64(1) << 62 // when the oldest request on its way was sent
	for _, r := range c.pending {
		oldest = min(oldest, r.sent)
	}
	for _, m := range c.inbox {
		if m.event.SentAt != 0 && m.event.Code == events.OK { // what failed confirms nothing, whenever it was sent
			oldest = min(oldest, m.event.SentAt)
		}
	}
	pendings := c.machines(&s, oldest)
	s.flags(c.over, c.alive, c.attached, c.paused, c.leads, c.excused, c.awaiting != 0, c.deadline.Session == c.session)
	s.add(as, int64(c.refused)<<16|int64(c.link)<<8|int64(c.works))
	s.add(owner, c.zkid)
	s.add(level, c.seen)
	if c.alive {
		s.items = append(s.items, item{sort: moment, n: c.heard, floor: 1 << 62, slack: expiry * int64(unit)})
	}
	if c.attached {
		s.time(c.contact, 0)
	}
	if c.paused || c.link != sound {
		s.time(c.since, 0)
	}
	s.name(c.robbed)
	if c.leads {
		s.name(c.path)
		s.time(c.deadline.Until, 1<<62)
	}
	s.shards(c)
	s.paths(inLine(c.armed))
	s.paths(inLine(c.watches))
	for _, t := range []*tree{c.view, c.spare} {
		s.flags(t != nil)
		if t != nil {
			s.tree(t)
		}
	}
	c.traffic(&s, pendings)
	return s.items
}

// inLine sorts watches: in which order they are kept means nothing, because they
// are set again in either order.
func inLine(paths []string) []string {
	paths = slices.Clone(paths)
	slices.SortFunc(paths, func(a, b string) int {
		return cmp.Or(cmp.Compare(number(a), number(b)), cmp.Compare(a, b))
	})
	return paths
}

func (s *sheet) paths(paths []string) {
	s.add(as, int64(len(paths)))
	for _, p := range paths {
		s.name(p)
	}
}

// traffic is what is on its way: timers, requests and messages.
func (c *client) traffic(s *sheet, pendings map[events.ID]pending) {
	timers := slices.Clone(c.timers)
	slices.SortStableFunc(timers, func(a, b timer) int { return cmp.Compare(a.at, b.at) })
	s.add(as, int64(len(timers)))
	for _, t := range timers {
		s.word(string(t.machine))
		s.add(as, pendings[t.machine].call(t.number))
		s.time(t.at, 0)
	}
	s.add(as, int64(len(c.pending)))
	for _, r := range c.pending {
		h := r.effect.Header()
		m := reply(r, events.Event{})
		s.word(string(r.from) + string(m.event.Kind))
		s.flags(wants(r.effect, events.OK) != "")
		s.add(as, int64(lane(r.effect))<<32|pendings[r.from].call(h.Request)<<8|(c.number-h.Session))
		s.name(m.event.Path)
		if e, ok := r.effect.(events.Multi); ok {
			s.name(e.Ops[0].Path)
			s.operations(e.Ops)
		}
		s.sent(r.sent, r.contact)
	}
	s.add(as, int64(len(c.inbox)))
	for _, m := range c.inbox {
		c.message(s, m, pendings[m.to])
	}
}

// sent is when a request left, and how long before that the last contact was:
// up to a unit shortens no belief.
func (s *sheet) sent(at, contact int64) {
	s.time(at, 0)
	s.add(as, max(at-contact, int64(unit)))
}

// message is one frame or event on its way to the loop.
func (c *client) message(s *sheet, m message, d pending) {
	ev := m.event
	s.word(string(m.to) + string(ev.Kind) + string(ev.Code))
	s.flags(m.local, m.asked != nil && wants(m.asked.effect, events.OK) != "")
	s.add(as, d.call(ev.Request)<<8|(c.number-ev.Session))
	s.name(ev.Path)
	if !m.local {
		s.add(level, m.zxid)
	}
	if ev.Request != 0 && d.call(ev.Request) == stale {
		return
	}
	s.add(owner, ev.SessionID)
	s.sent(ev.SentAt, ev.Contact)
	if ev.Kind == events.ReplyCreate && ev.Code == events.OK {
		s.add(order, ev.Zxid)
	}
	if ev.Stat != nil {
		s.add(order, ev.Stat.Czxid)
		s.add(owner, ev.Stat.EphemeralOwner)
	}
	if m.to == member {
		s.shardAnswer(ev)
	}
	s.paths(ev.Children)
}
