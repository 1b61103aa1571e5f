// Package differential runs the same random operations against zkmem and a real ZooKeeper and compares everything that
// the clients are told: replies, Stats, errors, watch events and their order.
//
// INCUMBENT_SEED sets the first seed (a failure prints its own), INCUMBENT_DIFF_ROUNDS the number of rounds,
// INCUMBENT_DIFF_STEPS the steps in each, and INCUMBENT_DIFF_HISTORY how many steps a failure prints before its own.
package differential

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

const slots = 4

func setting(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

func TestZkmemAnswersAsTheRealServer(t *testing.T) {
	seed := repeat.Seed(t, 1)
	rounds := setting(t, "INCUMBENT_DIFF_ROUNDS", 20)
	steps := setting(t, "INCUMBENT_DIFF_STEPS", 300)
	onReleases(t, func(t *testing.T, r release) {
		apache, mem := r.start(t, realzk.Options{}, zkmem.Options{ContainerInterval: time.Hour})
		rehearse(t, apache.Addr(), mem.Addr(), seed, rounds, steps, false)
	})
}

// Nodes with a TTL and the super user exist only on servers that have the settings, and change what everything else
// answers.
func TestZkmemWithEverySettingAnswersAsTheRealServer(t *testing.T) {
	seed := repeat.Seed(t, 1_000_001)
	rounds := setting(t, "INCUMBENT_DIFF_ROUNDS", 20) / 3
	onReleases(t, func(t *testing.T, r release) {
		apache, mem := r.start(t, realzk.Options{Properties: []string{"zookeeper.extendedTypesEnabled=true",
			"zookeeper.DigestAuthenticationProvider.superDigest=" + superDigest}},
			zkmem.Options{ExtendedTypes: true, ContainerInterval: time.Hour, SuperDigest: superDigest})
		rehearse(t, apache.Addr(), mem.Addr(), seed, rounds, setting(t, "INCUMBENT_DIFF_STEPS", 300), true)
	})
}

// rehearse plays rounds against both servers until they differ.
func rehearse(t *testing.T, realAddr, memAddr string, seed uint64, rounds, steps int, full bool) {
	t.Helper()
	var seen coverage
	round := 0
	for ; round < rounds || seen.meagre() && round < 4*rounds; round++ {
		if !compare(t, realAddr, memAddr, seed+uint64(round), steps, full, &seen) {
			return
		}
	}
	t.Logf("seeds %d to %d: no difference in %d steps, %+v", seed, seed+uint64(round)-1, round*steps, seen)
	if seen.meagre() && rounds*steps >= 5000 {
		t.Error("too little happened for the comparison to mean anything")
	}
}

// coverage tells how much happened on the real server.
type coverage struct {
	Done   int // steps answered with success
	Events int // steps that made some client hear an event
	Pairs  int // steps that made one client hear two or more, whose order is compared
}

// meagre says that more rounds are wanted before the comparison means anything.
func (c *coverage) meagre() bool { return c.Events < 200 || c.Pairs < 20 || c.Done < 1000 }

func (c *coverage) add(s step, told string) {
	if strings.Contains(told, fmt.Sprintf("[%d] reply", s.slot)) && !strings.Contains(told, " code -1") {
		c.Done++
	}
	if strings.Contains(told, "event") {
		c.Events++
	}
	for slot := range slots {
		if !s.jumbled && strings.Count(told, fmt.Sprintf("[%d] event", slot)) > 1 {
			c.Pairs++
			return
		}
	}
}

// compare runs one round and says whether both servers told the same.
func compare(t *testing.T, realAddr, memAddr string, seed uint64, steps int, full bool, seen *coverage) bool {
	t.Helper()
	worlds := []*world{newWorld(realAddr), newWorld(memAddr)}
	m := &maker{rng: rand.New(rand.NewPCG(seed, 1)), root: rootOf(seed), tame: seed%2 == 0, full: full}
	var history []played
	for _, w := range worlds {
		if refused := w.begin(m.root, full); refused != nil {
			t.Errorf("seed %d: the round has nothing to play with: %q", seed, refused)
			return false
		}
	}
	for i := range steps {
		slot := m.rng.IntN(slots)
		c := worlds[0].clients[slot]
		s := m.next(slot, c.conn != nil, c.session != 0)
		told := [2]string{}
		for side, w := range worlds {
			told[side] = w.perform(s)
		}
		seen.add(s, told[0])
		history = append(history, played{i, slot, s.name, told[0], told[1]})
		if told[0] != told[1] {
			t.Error(difference(seed, history, setting(t, "INCUMBENT_DIFF_HISTORY", 40)))
			return false
		}
	}
	for _, w := range worlds {
		w.end()
	}
	return true
}

// rootOf returns where a round plays. A server that outlives the test has the roots of earlier runs, too.
func rootOf(seed uint64) string {
	if os.Getenv("INCUMBENT_ZK") != "" {
		return fmt.Sprintf("/r%d-%d", seed, time.Now().UnixNano())
	}
	return fmt.Sprint("/r", seed)
}

// quotaNodes are the nodes that say that a root and /a in it have quotas, and count what is there.
func quotaNodes(root string) []string {
	top := "/zookeeper/quota" + root
	return []string{top, top + "/zookeeper_limits", top + "/zookeeper_stats", top + "/a", top + "/a/zookeeper_limits",
		top + "/a/zookeeper_stats"}
}

func newWorld(addr string) *world {
	w := &world{addr: addr, names: map[int64]string{}}
	for range slots {
		w.clients = append(w.clients, &client{w: w})
	}
	return w
}

// begin makes the round's root and notes the zxid, by a client of its own. It leaves no session behind: one that
// expires in a later round would move the real server's zxid there. With quotas, the round's root and /a in it have
// one. It returns the answers that refused a node.
func (w *world) begin(root string, quotas bool) (refused []string) {
	c := &client{w: w}
	c.connect(0, make([]byte, 16), 0, 30000, "begin")
	create := func(path, data string) {
		answer := c.ask(opCreate, enc{}.str(path).str(data).acls([]acl{{31, "world", "anyone"}}).i32(0))
		if !strings.Contains(answer[0], " code 0 ") {
			refused = append(refused, answer...)
		}
	}
	create(root, "")
	for _, path := range quotaNodes(root) {
		if quotas {
			create(path, "count=3,bytes=20")
		}
	}
	c.xid++
	c.send(enc{}.i32(c.xid).i32(opExists).str(root).flag(false))
	if frame, err := c.read(); err == nil {
		d := &dec{buf: frame[4:]}
		w.base = d.i64()
	}
	c.ask(opCloseSession, nil)
	c.expectEnd()
	return refused
}

// perform does a step and tells what every client heard: the others' pings come back after all events that the step
// caused.
func (w *world) perform(s step) string {
	told := s.do(w.clients[s.slot])
	lines := labelled(s.slot, told, s.jumbled)
	for slot, c := range w.clients {
		if c.conn != nil {
			lines = append(lines, labelled(slot, c.ask(opPing, nil), s.jumbled)...)
		}
	}
	return strings.Join(lines, "\n")
}

func labelled(slot int, told []string, jumbled bool) []string {
	if jumbled {
		slices.Sort(told)
	}
	lines := make([]string, len(told))
	for i, line := range told {
		lines[i] = fmt.Sprintf("[%d] %s", slot, line)
	}
	return lines
}

// end closes all sessions.
func (w *world) end() {
	for _, c := range w.clients {
		if c.conn == nil && c.session != 0 {
			c.connect(c.session, c.password, 0, 30000, "")
		}
		if c.conn != nil {
			c.ask(opCloseSession, nil)
		}
		c.hangUp()
	}
}
