package differential

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/servers/ensemble"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// members are three servers with one history, real or in memory. Number 0 is the leader when the test begins.
type members interface {
	addr(i int) string
	id(i int) int // in the configuration
	isolate(i int)
	heal()
	stop(i int)
	awaitWord(t *testing.T, i int, word, says string)
}

const ensembleTick = 400 * time.Millisecond

// bothEnsembles plays the same scene on a real ensemble of each release and on zkmem's, and compares what the clients
// heard.
func bothEnsembles(t *testing.T, o ensemble.Options, mem zkmem.Options, play func(*scene)) {
	t.Helper()
	onReleases(t, func(t *testing.T, r release) { r.ensembles(t, o, mem, play) })
}

func (r release) ensembles(t *testing.T, o ensemble.Options, mem zkmem.Options, play func(*scene)) {
	t.Helper()
	o.Release, o.Tick, o.SyncLimit, mem.Tick, mem.SyncLimit = r.Release, ensembleTick, 20, ensembleTick, 20
	apache := ensemble.Start(t, o)
	leader, _ := apache.Whole()
	mem.Release = r.imitated(t, leader.Addr())
	var lines [2][]string
	for side, m := range []members{newRealMembers(apache), newMemMembers(zkmem.StartEnsemble(t, 3, mem))} {
		s := &scene{members: m, t: t, w: newWorld("")}
		play(s)
		for _, c := range s.w.clients {
			c.hangUp()
		}
		lines[side] = s.lines
	}
	for i := range max(len(lines[0]), len(lines[1])) {
		get := func(side int) string {
			if i < len(lines[side]) {
				return lines[side][i]
			}
			return "nothing"
		}
		if get(0) != get(1) {
			t.Errorf("line %d:\nthe real ensemble: %s\nzkmem:             %s", i, get(0), get(1))
		}
	}
	t.Logf("%d answers:\n%s", len(lines[0]), strings.Join(lines[0], "\n"))
}

// scene is what clients do at the members of one ensemble, and what they hear.
type scene struct {
	members
	t     *testing.T
	w     *world
	lines []string
}

func (s *scene) say(lines ...string) {
	for _, line := range lines {
		s.lines = append(s.lines, alikeConfig(line))
	}
}

var (
	versions = regexp.MustCompile(`version=[0-9a-f]+`)
	lengths  = regexp.MustCompile(`len \d{3}`)
	clients  = regexp.MustCompile(`;127\.0\.0\.1:\d+`)
	ports    = regexp.MustCompile(`127\.0\.0\.1:\d+:\d+`)
	role     = regexp.MustCompile(`server.N=:PORT:\w+`)
	numbers  = regexp.MustCompile(`server\.\d`)
)

// alikeConfig takes out of a line what differs between two configurations of three servers on the loopback: numbers and
// ports.
func alikeConfig(line string) string {
	for _, u := range []struct {
		pattern *regexp.Regexp
		instead string
	}{{clients, ""}, {ports, ":PORT"}, {versions, "version=V"}, {lengths, "len N"}, {numbers, "server.N"}} {
		line = u.pattern.ReplaceAllString(line, u.instead)
	}
	roles := role.FindAllString(line, -1)
	slices.Sort(roles) // they stand in the order of the servers' numbers, and either may lead
	return role.ReplaceAllStringFunc(line, func(string) (next string) {
		next, roles = roles[0], roles[1:]
		return next
	})
}

// connect connects a client to a member.
func (s *scene) connect(slot, member int, readOnly bool) {
	c := s.w.clients[slot]
	s.w.addr = s.addr(member)
	s.say(c.connectReadOnly(c.session, c.password, readOnly))
}

// ask has a client send a request and say what it hears.
func (s *scene) ask(slot int, op int32, body enc) {
	c := s.w.clients[slot]
	if c.conn == nil {
		s.say("not connected")
		return
	}
	s.say(c.ask(op, body)...)
}

// rebase has zxids counted from the last one at a member.
func (s *scene) rebase(slot int) {
	c := s.w.clients[slot]
	s.w.base = 0
	c.xid++
	c.send(enc{}.i32(c.xid).i32(opExists).str("/").flag(false))
	frame, err := c.read()
	if err != nil {
		s.t.Fatal(err)
	}
	s.w.base = (&dec{buf: frame[4:]}).i64()
}

var open = []acl{{31, "world", "anyone"}}

func made(path string, flags int32) enc { return enc{}.str(path).str("").acls(open).i32(flags) }

func reconfig(joining, leaving, all string, version int64) enc {
	return enc{}.strOrNull(joining).strOrNull(leaving).strOrNull(all).i64(version)
}

// A follower that is cut off answers from an older state, and a sync there waits until it has caught up.
func TestAStaleReadAndASyncAsInARealEnsemble(t *testing.T) {
	bothEnsembles(t, ensemble.Options{}, zkmem.Options{}, func(s *scene) {
		s.connect(0, 0, false)
		s.connect(1, 1, false)
		s.ask(0, opCreate, made("/before", 0))
		s.ask(1, opSync, enc{}.str("/"))
		s.rebase(1)
		s.isolate(1)
		s.ask(0, opCreate, made("/n", 0))
		reader := s.w.clients[1]
		s.ask(1, opExists, enc{}.str("/n").flag(false))
		s.ask(1, opGetChildren, enc{}.str("/").flag(true))
		reader.xid++
		reader.send(enc{}.i32(reader.xid).i32(opSync).str("/"))
		s.heal()
		s.say(reader.await(reader.xid, opSync)...) // and before it the watch event
		s.ask(1, opExists, enc{}.str("/n").flag(false))
		s.ask(1, opCreate, made("/m", 0))
		s.connect(1, 2, false) // the session moves
		s.ask(1, opSync, enc{}.str("/"))
		s.ask(1, opExists, enc{}.str("/m").flag(false))
		s.ask(1, opSetData, enc{}.str("/m").str("x").i32(-1))
		for i := range 3 {
			for _, word := range []string{"isro", "srvr", "conf"} {
				s.word(i, word)
			}
		}
	})
}

// word says what a member answers to a word, as far as it can be compared.
func (s *scene) word(member int, word string) {
	answer, err := realzk.Word(s.addr(member), word)
	if err != nil {
		s.say(err.Error())
		return
	}
	for _, line := range strings.Split(answer, "\n") {
		key, _, _ := strings.Cut(line, "=")
		switch {
		case word == "srvr" && !strings.HasPrefix(line, "Mode: ") && !strings.HasPrefix(line, "Node count: "):
		case strings.HasPrefix(key, "data") || strings.HasSuffix(key, "Port") || strings.HasPrefix(line, "server.") ||
			strings.HasPrefix(line, "version") || key == "serverId":
			s.say(key) // and some value
		default:
			s.say(line)
		}
	}
}

// Members that find no quorum serve read-only clients, if they may.
func TestAReadOnlyMemberAsInARealEnsemble(t *testing.T) {
	o := ensemble.Options{Properties: []string{"readonlymode.enabled=true"},
		Settings: []string{"localSessionsEnabled=true", "localSessionsUpgradingEnabled=true"}}
	bothEnsembles(t, o, zkmem.Options{ReadOnlyMode: true}, func(s *scene) {
		s.connect(0, 1, true)
		s.rebase(0)
		// a local session of a real server becomes the ensemble's by this
		s.w.clients[0].ask(opCreate, made("/mine", 1))
		s.rebase(0)
		s.ask(0, opCreate, made("/n", 0))
		s.stop(0)
		s.stop(2)
		s.awaitWord(s.t, 1, "isro", "ro")
		s.word(1, "isro")
		s.word(1, "srvr")
		s.connect(1, 1, false)
		s.connect(0, 1, true) // a session of the ensemble
		s.w.clients[3].session, s.w.clients[3].password = 12345, make([]byte, 16)
		s.connect(3, 1, true) // a session of nobody
		s.connect(2, 1, true)
		if s.w.clients[2].conn == nil {
			return
		}
		s.rebase(2)
		for _, r := range []struct {
			op   int32
			body enc
		}{
			{opExists, enc{}.str("/n").flag(true)}, {opGetData, enc{}.str("/n").flag(false)}, {opCreate, made("/m", 0)},
			{opSync, enc{}.str("/")},
			{opDelete, enc{}.str("/n").i32(-1)}, {opSetData, enc{}.str("/n").str("x").i32(-1)},
			{opMulti, enc{}.i32(-1).flag(true).i32(-1)},
			{opReconfig, reconfig(null, "1", null, -1)}, {opPing, nil}, {opWhoAmI, nil},
			{opCheck, enc{}.str("/n").i32(-1)}, // it ends the connection, at once or behind an answer
		} {
			s.ask(2, r.op, r.body)
		}
	})
}

// The configuration is read, watched and written as on 3.8.
func TestAReconfigAsInARealEnsemble(t *testing.T) {
	o := ensemble.Options{Properties: []string{"zookeeper.DigestAuthenticationProvider.superDigest=" + superDigest},
		Settings: []string{"reconfigEnabled=true"}, Direct: true}
	bothEnsembles(t, o, zkmem.Options{Reconfig: true, SuperDigest: superDigest}, func(s *scene) {
		s.connect(0, 0, false)
		s.connect(1, 1, false)
		s.rebase(0)
		config := enc{}.str("/zookeeper/config").flag(true)
		s.ask(1, opGetData, config)
		s.ask(0, opReconfig, reconfig(null, "9", null, -1))
		s.ask(0, opAuth, enc{}.i32(0).str("digest").str(superUser))
		for _, r := range refusedReconfigs() {
			s.ask(0, opReconfig, r)
		}
		s.ask(0, opReconfig, reconfig(null, "9", null, -1)) // changes nothing but the version
		s.ask(0, opSync, enc{}.str("/"))
		s.ask(1, opSync, enc{}.str("/"))
		s.ask(1, opGetData, config)
		s.ask(1, opGetACL, enc{}.str("/zookeeper/config"))
		s.ask(0, opCreate, made("/n", 0))
		s.removeAndAdd()
	})
}

// removeAndAdd has a follower leave the configuration, and join it as an observer.
func (s *scene) removeAndAdd() {
	was, err := realzk.Word(s.addr(0), "conf")
	if err != nil {
		s.t.Fatal(err)
	}
	id := fmt.Sprint(s.id(2))
	spec := regexp.MustCompile(`(?m)^server\.` + id + `=.*$`).FindString(was)
	s.ask(0, opReconfig, reconfig(null, id, null, -1))
	s.ask(0, opReconfig, reconfig(null, id, null, -1)) // it is not there any more
	s.ask(0, opReconfig, reconfig(null, fmt.Sprint(s.id(1)), null, -1))
	s.connect(2, 2, false)
	s.ask(2, opSync, enc{}.str("/"))
	s.ask(2, opGetData, enc{}.str("/zookeeper/config").flag(false))
	s.ask(2, opCreate, made("/at-removed", 0))
	s.word(2, "srvr")
	s.ask(0, opReconfig, reconfig(strings.Replace(spec, ":participant", ":observer", 1), null, null, -1))
	s.awaitWord(s.t, 2, "srvr", "Mode: observer")
	s.word(2, "isro")
}

// refusedReconfigs are bodies that every server refuses. One that cannot be decoded is not among them: it ends the
// service of a real leader.
func refusedReconfigs() (list []enc) {
	const four = "server.4=127.0.0.1:2:3"
	for _, joining := range []string{four, four + ";4", four + ":king;4", four + ":observer", "server.4",
		"server.x=127.0.0.1:2:3;4", "4=127.0.0.1:2;4",
		"server.4=127.0.0.1:2:2;4", "server.4=127.0.0.1:a:3;4",
		"server.4=10.0.0.4:2:3;4,server.5=10.0.0.4:2:5;10.0.0.4:6",
		four + ";4,server.5=127.0.0.1:5:6;7,server.6=127.0.0.1:8:9;10"} {
		if joining == four+";4" {
			continue // three of four are there: it would be accepted
		}
		list = append(list, reconfig(joining, null, null, -1))
	}
	for _, leaving := range []string{"one", "1,2", "1,2,3", " 1 , 2 ", "1;2"} {
		list = append(list, reconfig(null, leaving, null, -1))
	}
	for _, all := range []string{"", "colour=red", four, four + ";4\n" + "server.5=127.0.0.1:5:6;7",
		"server.5=127.0.0.1:5:6:observer;7", "server.x=127.0.0.1:2:3;4",
		"server.4=127.0.0.1:2:3;4,server.5=127.0.0.1:5;6"} {
		list = append(list, reconfig(null, null, all, -1))
	}
	return append(list, reconfig(null, "9", null, 5), reconfig(null, "9", null, 0))
}

// realMembers is a real ensemble.
type realMembers struct {
	e   *ensemble.Ensemble
	all []*ensemble.Server
}

func newRealMembers(e *ensemble.Ensemble) *realMembers {
	leader, followers := e.Whole()
	return &realMembers{e, append([]*ensemble.Server{leader}, followers...)}
}

func (m *realMembers) addr(i int) string { return m.all[i].Addr() }
func (m *realMembers) id(i int) int      { return m.all[i].ID() }
func (m *realMembers) isolate(i int)     { m.e.Isolate(m.all[i]) }
func (m *realMembers) heal()             { m.e.Heal() }
func (m *realMembers) stop(i int)        { m.all[i].Kill() }
func (m *realMembers) awaitWord(t *testing.T, i int, word, says string) {
	t.Helper()
	m.all[i].Answers(word, says)
}

// memMembers is zkmem's.
type memMembers struct {
	e   *zkmem.Ensemble
	all []*zkmem.Server
}

func newMemMembers(e *zkmem.Ensemble) *memMembers {
	return &memMembers{e, append([]*zkmem.Server{e.Leader()}, e.Followers()...)}
}

func (m *memMembers) addr(i int) string { return m.all[i].Addr() }
func (m *memMembers) id(i int) int      { return slices.Index(m.e.Servers(), m.all[i]) + 1 }
func (m *memMembers) isolate(i int)     { _ = m.e.Isolate(m.all[i]) }
func (m *memMembers) heal()             { m.e.Heal() }
func (m *memMembers) stop(i int)        { m.all[i].Stop() }
func (m *memMembers) awaitWord(t *testing.T, i int, word, says string) {
	t.Helper()
	if answer, err := realzk.Word(m.addr(i), word); err != nil || !strings.Contains(answer, says) {
		t.Fatalf("%s: %q %v", word, answer, err)
	}
}

// connectReadOnly sends a handshake, which may ask for a read-only server, and returns the answer.
func (c *client) connectReadOnly(session int64, password []byte, readOnly bool) string {
	if password == nil {
		password = make([]byte, 16)
	}
	name := fmt.Sprintf("session%d", len(c.w.names))
	return c.introduce(session, password, 0, 20*int32(ensembleTick.Milliseconds()), name, readOnly)
}
