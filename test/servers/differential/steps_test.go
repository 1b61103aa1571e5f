package differential

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// step is one thing that one client does, the same against both servers.
type step struct {
	slot int
	name string
	do   func(c *client) []string
	// jumbled says that the order of this step's events is the server's whim.
	jumbled bool
}

// maker makes random steps below one root path.
type maker struct {
	rng  *rand.Rand
	root string
	made int  // sessions so far
	tame bool // everybody may do everything: odd permissions soon leave little to do
	full bool // the servers take nodes with a TTL, and have a super user and quotas
}

func pick[T any](m *maker, list ...T) T { return list[m.rng.IntN(len(list))] }

func (m *maker) path() string {
	if m.rng.IntN(25) == 0 {
		return m.oddPath()
	}
	return m.plainPath()
}

func (m *maker) plainPath() string {
	return m.root + pick(m, "", "/a", "/a", "/b", "/c", "/a/x", "/a/x", "/a/y", "/b/x", "/a/x/y",
		"/a/s-0000000000", "/a/s-0000000001", "/b/s-0000000001", "/s-0000000003")
}

func (m *maker) oddPath() string {
	return pick(m, "", "nope", "/", m.root+"/", m.root+"//x", m.root+"/a/", m.root+"/.", m.root+"/../a", m.root+"/é",
		m.root+"/a\x00b", m.root+"/\x01", m.root+"/\ufffe", "/zookeeper", "/zookeeper/config", "/zookeeper/quota",
		m.root+"/missing/child", "a"+m.root, m.root+"/...", m.root+"/a..", m.root+"/\u0085", m.root+"/\ue000")
}

func (m *maker) version() int32 { return pick(m, int32(-1), -1, -1, 0, 1, 2, -2) }
func (m *maker) data() enc {
	if m.rng.IntN(6) == 0 {
		return enc{}.i32(-1)
	}
	return enc{}.str(strings.Repeat("d", m.rng.IntN(5)))
}

func (m *maker) acls() []acl {
	open := acl{31, "world", "anyone"}
	if m.tame || m.rng.IntN(3) > 0 {
		return []acl{open}
	}
	return pick(m, nil, []acl{open, open}, []acl{{1, "world", "anyone"}}, []acl{{31, "auth", ""}},
		[]acl{{5, "auth", "x"}, {1, "world", "anyone"}}, []acl{{31, "digest", "u1:" + digestOfU1}},
		[]acl{{30, "digest", "u1:" + digestOfU1}, {1, "world", "anyone"}}, []acl{{31, "digest", "nocolon"}},
		[]acl{{31, "digest", "a:"}}, []acl{{31, "digest", ":b"}}, []acl{{31, "digest", "a:b:c"}},
		[]acl{{31, "digest", "a:b:"}},
		[]acl{{31, "ip", "127.0.0.1"}}, []acl{{31, "ip", "10.0.0.0/8"}}, []acl{{31, "ip", "127.0.0.0/8"}},
		[]acl{{31, "ip", "nonsense"}},
		[]acl{{31, "auth", null}}, []acl{{31, "auth", null}}, []acl{{31, "world", null}}, []acl{{31, null, "x"}},
		[]acl{{31, "digest", null}},
		[]acl{{31, "world", "somebody"}}, []acl{{31, "magic", "x"}}, []acl{{0, "world", "anyone"}},
		[]acl{{15, "world", "anyone"}},
		[]acl{{23, "world", "anyone"}}, []acl{{27, "world", "anyone"}},
		[]acl{{16, "world", "anyone"}, {31, "digest", "u1:" + digestOfU1}})
}

// superUser may do everything, on servers that were given superDigest.
const (
	superUser   = "super:hunter2"
	superDigest = "super:V1o6/gHR24bI2f+NOZanWPgr+eg="
)

const digestOfU1 = "nVVAHwFhcIB0wDVZBsQ8NZTM5hc=" // not anybody's; auth gives the real ones

// mode leaves the TTL modes out within a multi, where the real server does not answer Unimplemented but fails to
// decode.
func (m *maker) mode(alone bool) int32 {
	switch {
	case m.rng.IntN(20) > 0:
	case alone:
		return pick(m, int32(-1), 4, 5, 6, 7, 99)
	default:
		return pick(m, int32(-1), 4, 7, 99)
	}
	return pick(m, int32(0), 0, 0, 1, 2, 3)
}

// write returns a request that may stand alone or in a multi.
func (m *maker) write(op int32, alone bool) enc {
	switch op {
	case opCreateTTL:
		mode, ttl := pick(m, int32(5), 5, 6, 0, 2), pick(m, int64(1<<30), 1<<40-1, 1<<40, 0, -1)
		if mode < 5 { // a real server that is asked for another mode and for less than no time crashes
			ttl = max(ttl, 0)
		}
		return append(enc{}.str(m.path()), m.data()...).acls(m.acls()).i32(mode).i64(ttl)
	case opCreate, opCreate2, opCreateContainer:
		mode, path := m.mode(alone), m.path()
		if mode == 2 || mode == 3 {
			path = pick(m, m.root+"/s-", m.root+"/a/s-", m.root+"/b/s-", m.root+"/a/", path)
		}
		return append(enc{}.str(path), m.data()...).acls(m.acls()).i32(mode)
	case opDelete, opCheck:
		return enc{}.str(m.path()).i32(m.version())
	case opSetData:
		return append(enc{}.str(m.path()), m.data()...).i32(m.version())
	case opSetACL:
		path, list := m.path(), m.acls()
		if path == m.root {
			path += "/a"
		}
		if path == "/" || strings.HasPrefix(path, "/zookeeper") { // the rounds that follow need them, too
			list = []acl{{31, "world", "anyone"}}
		}
		return enc{}.str(path).acls(list).i32(m.version())
	}
	panic(op)
}

func (m *maker) multi() enc {
	var body enc
	for range m.rng.IntN(5) {
		op := pick(m, int32(opCreate), opCreate, opDelete, opSetData, opCheck, opCheck, opCreateContainer)
		if m.rng.IntN(60) == 0 {
			op = opCreate2
		}
		body = append(body.i32(op).flag(false).i32(-1), m.write(op, false)...)
	}
	if m.rng.IntN(40) == 0 {
		body = body.i32(opExists).flag(false).i32(-1).str(m.root).flag(false)
	}
	return body.i32(-1).flag(true).i32(-1)
}

// multiRead makes reads only: a real server that finds something else refuses with a body that nobody reads.
func (m *maker) multiRead() enc {
	var body enc
	for range m.rng.IntN(4) {
		body = body.i32(pick(m, int32(opGetData), opGetChildren)).flag(false).i32(-1).str(m.path()).
			flag(m.rng.IntN(2) == 0)
	}
	return body.i32(-1).flag(true).i32(-1)
}

// quota reads what is counted, or creates or deletes a quota. No client writes to what is counted: what is no count
// there ends a real server.
func (m *maker) quota(slot int) step {
	nodes := quotaNodes(m.root)
	switch m.rng.IntN(8) {
	case 0:
		path := pick(m, nodes[4], nodes[5], nodes[1])
		return m.request(slot, opCreate,
			enc{}.str(path).str("count=1,bytes=-1").acls([]acl{{31, "world", "anyone"}}).i32(0))
	case 1:
		return m.request(slot, opDelete, enc{}.str(pick(m, nodes[4], nodes[5], nodes[1])).i32(-1))
	}
	return m.request(slot, opGetData, enc{}.str(pick(m, nodes[2], nodes[5])).flag(m.rng.IntN(2) == 0))
}

// super returns the credentials of the super user, but not often: to that user nothing is refused.
func (m *maker) super() string {
	if !m.full || m.rng.IntN(4) > 0 {
		return "u2:p"
	}
	return superUser
}

// next returns a random step of a client that is connected, or gets connected.
func (m *maker) next(slot int, connected, hasSession bool) step {
	if !connected {
		return m.comeBack(slot, hasSession)
	}
	switch n := m.rng.IntN(100); {
	case n < 40:
		op := pick(m, int32(opCreate), opCreate, opCreate, opCreate2, opCreateContainer, opDelete, opDelete,
			opSetData, opSetACL)
		if m.full && m.rng.IntN(4) == 0 {
			op = opCreateTTL
		}
		return m.request(slot, op, m.write(op, true))
	case n < 75:
		op := pick(m, int32(opExists), opExists, opGetData, opGetData, opGetChildren, opGetChildren2)
		return m.request(slot, op, enc{}.str(m.path()).flag(m.rng.IntN(3) > 0))
	case n < 84:
		return m.request(slot, opMulti, m.multi())
	case n < 93:
		return m.rare(slot)
	}
	return m.drastic(slot)
}

func (m *maker) rare(slot int) step {
	if m.full && m.rng.IntN(4) == 0 {
		return m.quota(slot)
	}
	switch m.rng.IntN(13) {
	case 0:
		return m.request(slot, opAuth,
			enc{}.i32(0).str("digest").str(pick(m, "u1:p", "u2:p", "nocolon", ":", "u1:p:q", "", m.super())))
	case 1:
		return m.request(slot, opGetACL, enc{}.str(m.path()))
	case 2:
		return m.request(slot, opSync, enc{}.str(m.path()))
	case 3:
		return m.request(slot, pick(m, int32(opCheckWatches), opRemoveWatches),
			enc{}.str(m.plainPath()).i32(pick(m, int32(1), 2, 3, 3, 0, 4, 5)))
	case 4:
		return m.request(slot, opCountDescendants, enc{}.str(m.root+pick(m, "", "/a", "/b", "/missing")))
	case 5:
		return m.request(slot, opGetEphemerals, enc{}.str(pick(m, m.root, m.root+"/a", "/", "")))
	case 6:
		return m.setWatches(slot)
	case 7, 8, 9:
		path := pick(m, m.plainPath(), m.plainPath(), m.root, m.root, "/", "", "nope")
		return m.request(slot, opAddWatch, enc{}.str(path).i32(pick(m, int32(0), 0, 0, 1, 1, 1, 2, -1)))
	case 10:
		return m.request(slot, opWhoAmI, nil)
	case 11:
		return m.request(slot, opMultiRead, m.multiRead())
	}
	return m.request(slot, opGetACL, enc{}.str(m.path()))
}

func (m *maker) setWatches(slot int) step {
	back, op := int64(m.rng.IntN(40)), pick(m, int32(opSetWatches), opSetWatches2)
	lists := [5][]string{}
	for i := range lists {
		for range m.rng.IntN(4) {
			lists[i] = append(lists[i], m.path())
		}
	}
	name := fmt.Sprintf("%s back %d %q", opNames[op], back, lists)
	return step{slot: slot, name: name, do: func(c *client) []string {
		body := enc{}.i64(c.w.base + back).strs(lists[0]).strs(lists[1]).strs(lists[2])
		if op == opSetWatches2 {
			body = body.strs(lists[3]).strs(lists[4])
		}
		return c.ask(op, body)
	}}
}

// drastic steps end or move connections and sessions.
func (m *maker) drastic(slot int) step {
	s := step{slot: slot}
	switch m.rng.IntN(9) {
	case 0:
		s.name, s.jumbled = "close session", true
		s.do = func(c *client) []string {
			told := append(c.ask(opCloseSession, nil), c.expectEnd())
			c.session = 0
			return told
		}
	case 1:
		s.name = "auth by magic"
		s.do = ending(opAuth, enc{}.i32(0).str("magic").str("x"))
	case 2:
		s.name = "unknown operation"
		s.do = ending(opUnknown, nil)
	case 3:
		s.name = "frame too long"
		s.do = func(c *client) []string {
			c.conn.Write(enc{}.i32(pick(m, int32(1<<20), 1<<30)))
			return []string{c.expectEnd()}
		}
	case 4:
		return m.request(slot, opReconfig, enc{}.str("").str("").str("").i64(-1))
	case 8:
		return m.request(slot, pick(m, int32(opDeleteContainer), opSASL), pick(m, enc{}.str(m.path()), enc{}.str("")))
	case 5:
		op := pick(m, int32(opCreate), opDelete, opSetData, opMulti, opExists, opGetData, opSetACL)
		return m.request(slot, op, pick(m, enc{}, enc{}.i32(-1).i32(0), enc{}.i32(1000), enc{}.i32(-7).i32(1)))
	case 6:
		s.name = "hang up"
		s.do = func(c *client) []string { c.hangUp(); return nil }
	default:
		s.name = "attach beside the old connection"
		s.do = func(c *client) []string {
			old := &client{w: c.w, conn: c.conn}
			c.conn = nil
			told := c.connect(c.session, c.password, 0, 30000, "")
			return []string{told, old.expectEnd()}
		}
	}
	return s
}

func ending(op int32, body enc) func(c *client) []string {
	return func(c *client) []string { return append(c.ask(op, body), c.expectEnd()) }
}

// comeBack connects a client: to its session, to a new one, or in a way that must fail.
func (m *maker) comeBack(slot int, hasSession bool) step {
	s := step{slot: slot}
	switch n := m.rng.IntN(10); {
	case hasSession && n < 7:
		s.name = "attach"
		s.do = func(c *client) []string { return []string{c.connect(c.session, c.password, 0, 30000, "")} }
	case hasSession && n == 7:
		s.name = "attach with a wrong password"
		s.do = func(c *client) []string { return []string{c.connect(c.session, make([]byte, 16), 0, 30000, "")} }
	case n == 8:
		s.name = "from the future"
		s.do = func(c *client) []string { return []string{c.connect(0, make([]byte, 16), 1<<60, 30000, "")} }
	case n == 9 && !hasSession:
		s.name = "attach to nothing"
		s.do = func(c *client) []string { return []string{c.connect(12345, make([]byte, 16), 0, 30000, "")} }
	case hasSession:
		s.name = "attach, asking for another timeout"
		s.do = func(c *client) []string { return []string{c.connect(c.session, c.password, 0, 20000, "")} }
	default:
		m.made++
		name, timeout := fmt.Sprintf("session%d", m.made), pick(m, int32(30000), 1000000, 25000)
		s.name = "new " + name
		s.do = func(c *client) []string { return []string{c.connect(0, make([]byte, 16), 0, timeout, name)} }
	}
	return s
}

func (m *maker) request(slot int, op int32, body enc) step {
	return step{slot: slot, name: fmt.Sprintf("%s %q", opNames[op], []byte(body)), do: func(c *client) []string {
		return c.ask(op, body)
	}}
}
