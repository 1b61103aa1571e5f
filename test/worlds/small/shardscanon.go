package small

import (
	"reflect"
	"slices"

	"github.com/incumbent-go/incumbent/events"
)

// When two worlds with shards are the same state. Names of members' nodes stand for themselves: they say whose the node
// is, and which one of its member.

// age returns 0 for the present version of a node's data, 1 for any older one, and else the version itself: the node is
// gone, or another one has its name.
func (t *tree) age(path string, version int64) int64 {
	switch stat := t.server.Stat(path); {
	case stat == nil:
		return 1000 + version
	case int64(stat.Version) > version:
		return 1
	default:
		return int64(stat.Version) - version
	}
}

// shardNode is what a node of a group of shards says, unless it is of the line.
func (s *sheet) shardNode(t *tree, path string) {
	stat := t.server.Stat(path)
	if s.flags(stat != nil); stat == nil || len(t.dirs) == 1 {
		return
	}
	s.word(string(t.server.Data(path)))
	s.add(mark, stat.Mzxid)
	s.items = append(s.items, item{sort: age, n: int64(stat.Version), word: path})
}

// shards is what a client's handle has of shards.
func (s *sheet) shards(c *client) {
	for _, t := range c.terms {
		s.flags(t.owned, t.works, t.excused, c.deadline.Session == t.session)
		if t.works || t.owned {
			s.name(t.path)
		}
		if t.owned {
			s.time(c.deadline.Until, 1<<62)
			s.add(order, t.token)
		}
	}
}

// operations are the parts of a write.
func (s *sheet) operations(all []events.Op) {
	for _, op := range all {
		s.word(op.Verb + string(op.Data))
		s.name(op.Path)
		if op.Verb == "set" || op.Verb == "check" && op.Version >= 0 {
			s.items = append(s.items, item{sort: age, n: int64(op.Version), word: op.Path})
		}
	}
}

// shardAnswer is what an answer says to a member.
func (s *sheet) shardAnswer(ev events.Event) {
	s.word(string(ev.Data))
	if ev.Kind == events.ReplyMulti && ev.Code == events.OK {
		s.add(order, ev.Zxid)
	}
	if ev.Stat != nil {
		s.items = append(s.items, item{sort: age, n: int64(ev.Stat.Version), word: ev.Path})
		if ev.Kind == events.ReplyStat {
			s.add(order, ev.Stat.Mzxid)
		}
	}
	s.add(as, int64(ev.Work))
}

// ownMember returns the path of the node that a client's member takes for its own.
func (c *client) ownMember() string { return c.modelOf(member).FieldByName("own").String() }

// looks writes down what a member has read of nodes.
func (s *sheet) looks(view reflect.Value, d pending, c *client) {
	own, nodes := c.ownMember(), view.FieldByName("nodes")
	all := make([]reflect.Value, nodes.Len())
	for i := range all {
		all[i] = nodes.Index(i)
	}
	path := func(n reflect.Value) string { return n.FieldByName("look").FieldByName("path").String() }
	slices.SortStableFunc(all, func(a, b reflect.Value) int { return compareLooks(a, b) })
	for _, n := range all {
		s.word(path(n))
		valid, exists := n.FieldByName("valid").Bool(), n.FieldByName("exists").Bool()
		s.flags(n.FieldByName("absent").Bool(), valid, exists)
		s.add(as, d.call(n.FieldByName("request").Uint())<<8|int64(n.FieldByName("look").FieldByName("of").Uint()))
		if !exists {
			continue
		}
		s.word(n.FieldByName("data").String())
		names := n.FieldByName("names")
		for i := range names.Len() {
			s.name(names.Index(i).String())
		}
		s.items = append(s.items, item{sort: age, n: n.FieldByName("version").Int(), word: path(n)})
		s.add(order, n.FieldByName("czxid").Int())
		if path(n) == own {
			s.add(order, n.FieldByName("mzxid").Int())
		}
	}
}

func compareLooks(a, b reflect.Value) int {
	pa, pb := a.FieldByName("look"), b.FieldByName("look")
	switch {
	case pa.FieldByName("path").String() < pb.FieldByName("path").String():
		return -1
	case pa.FieldByName("path").String() > pb.FieldByName("path").String():
		return 1
	}
	return int(pa.FieldByName("of").Uint()) - int(pb.FieldByName("of").Uint())
}
