package interop

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
)

// handOvers is how often leadership changes in each of two tests.
const handOvers = 100

func TestJavaAndGoLatchesShareALine(t *testing.T)   { share(t, "latch", "latch-", handOvers) }
func TestJavaAndGoSelectorsShareALine(t *testing.T) { share(t, "selector", "lock-", handOvers) }

// election is two processes with two members each in one line.
type election struct {
	*stage
	recipe, label string
	recipes       map[string]string // by side, where they differ
	handOvers     int
	sides         []*peer
	born          map[string]int
	faults        map[string][]func(*peer) // what is still to be done to a leader's process, by side
	done          map[string]int
}

func share(t *testing.T, recipe, label string, handOvers int) {
	t.Parallel()
	s := newStageOf(t, brief)
	e := &election{stage: s, recipe: recipe, label: label, handOvers: handOvers}
	e.share(s.java(), s.golang())
}

// share lets two members of each of two sides lead in turn, while the leaders' processes are killed and their sessions
// expire.
func (e *election) share(sides ...*peer) {
	t, recipe, handOvers := e.t, e.recipe, e.handOvers
	t.Helper()
	e.born, e.done, e.faults = map[string]int{}, map[string]int{}, map[string][]func(*peer){}
	for _, side := range sides {
		e.sides = append(e.sides, side.launch())
		e.faults[side.name] = []func(*peer){e.crash, e.expire, e.crash, e.expire}
	}
	for range 2 {
		for _, side := range e.sides {
			e.enlist(side)
		}
	}
	e.full()
	e.compareRolls()
	at, due := 0, 6
	for n := 1; n <= handOvers; n++ {
		var leader saying
		leader, at = e.await(at, fmt.Sprintf("leader %d", n), func(s saying) bool { return s.words[0] == "leader" })
		side, id := leader.peer, leader.words[1]
		if fault := e.fault(side); fault != nil && n >= due {
			due = n + 6
			e.faults[side.name] = e.faults[side.name][1:]
			fault(side)
			continue
		}
		side.say("yield %s", id)
		e.done["yield of "+side.name]++
		if recipe == "latch" {
			side.part(id)
			e.enlist(side)
		}
	}
	e.await(at, "the last leader", func(s saying) bool { return s.words[0] == "leader" })
	e.full()
	e.compareRolls()
	e.checkAddresses()
	e.judge()
	for side, left := range e.faults {
		if len(left) > 0 {
			t.Errorf("%d faults were not done to %s", len(left), side)
		}
	}
	t.Logf("%d hand-overs: %v", handOvers, e.done)
}

// fault takes the next fault for the leader's side, unless the other side has
// more to come.
func (e *election) fault(side *peer) func(*peer) {
	left := e.faults[side.name]
	for _, others := range e.faults {
		if len(left) == 0 || len(others) > len(left) {
			return nil
		}
	}
	return left[0]
}

// enlist adds one more member of a side, with its own name.
func (e *election) enlist(side *peer) {
	e.t.Helper()
	e.born[side.name]++
	side.join(cmp.Or(e.recipes[side.name], e.recipe), fmt.Sprintf("%s-%d", side.name, e.born[side.name]))
}

// crash kills the leader's process; both its members come back as new ones.
func (e *election) crash(side *peer) {
	e.t.Helper()
	members := side.members
	side.kill()
	for _, id := range members {
		_, err := e.conn.Create(e.journal+"/e-", []byte("exit "+id), zk.FlagSequence, zk.WorldACL(zk.PermAll))
		ok(e.t, err)
	}
	e.done["kill of "+side.name]++
	side.launch()
	e.enlist(side)
	e.enlist(side)
}

// expire cuts the leader's process off until the server has ended its session.
func (e *election) expire(side *peer) {
	e.t.Helper()
	from := e.now()
	var nodes []string
	for _, id := range side.members {
		nodes = append(nodes, e.enrolled(id))
	}
	side.proxy.hole()
	for _, node := range nodes {
		e.gone(node)
	}
	e.done["expiry of "+side.name]++
	side.proxy.heal()
	e.await(from, "the end of the lost term", func(s saying) bool { return s.peer == side && s.words[0] == "stopped" })
	for _, id := range side.members {
		e.enrolled(id)
	}
}

// gone waits until a node of the line is deleted.
func (s *stage) gone(node string) {
	s.t.Helper()
	for {
		there, _, changed, err := s.conn.ExistsW(s.line() + "/" + node)
		ok(s.t, err)
		if !there {
			return
		}
		<-changed
	}
}

// full waits until everybody is in the line.
func (e *election) full() { e.t.Helper(); e.filled(4) }

// filled waits until n participants are in the line.
func (s *stage) filled(count int) {
	s.t.Helper()
	for {
		names, _, changed, err := s.conn.ChildrenW(s.line())
		ok(s.t, err)
		if len(names) == count {
			return
		}
		<-changed
	}
}

// compareRolls checks that both sides read the same line: the same ids in the same
// order, with the same leader.
func (e *election) compareRolls() {
	e.t.Helper()
	var rolls []string
	for _, side := range e.sides {
		rolls = append(rolls, side.roll(side.members[len(side.members)-1]))
	}
	if rolls[0] != rolls[1] || len(strings.Fields(rolls[0])) != 4 || strings.Count(rolls[0], "*") != 1 {
		e.t.Fatalf("%s reads the line as %q, and %s as %q", e.sides[0].name, rolls[0], e.sides[1].name, rolls[1])
	}
	e.t.Logf("both read the line as %q", rolls[0])
}

// addressOf is what a member in Go advertises.
func addressOf(id string) string { return id + ".example:8080" }

// checkAddresses checks that each member in Go has its address next to the line, owned by the session of its place, and
// that there are no others: whatever killed or closed members had is gone.
func (e *election) checkAddresses() {
	e.t.Helper()
	var want, got []string
	for _, side := range e.sides {
		if side.name != "go" || e.recipe != "latch" && e.recipe != "selector" {
			continue
		}
		for _, id := range side.members {
			place := e.enrolled(id)
			_, stat, err := e.conn.Get(e.line() + "/" + place)
			ok(e.t, err)
			name, _, _ := strings.Cut(place, "-"+e.label)
			want = append(want, fmt.Sprintf("%s %s %x", name, addressOf(id), stat.EphemeralOwner))
		}
	}
	names, _, err := e.conn.Children(e.line() + "-addresses")
	if errors.Is(err, zk.ErrNoNode) {
		err = nil
	}
	ok(e.t, err)
	for _, name := range names {
		data, stat, err := e.conn.Get(e.line() + "-addresses/" + name)
		ok(e.t, err)
		got = append(got, fmt.Sprintf("%s %s %x", name, data, stat.EphemeralOwner))
	}
	slices.Sort(want)
	if slices.Sort(got); !slices.Equal(got, want) {
		e.t.Errorf("the addresses are %q, want %q", got, want)
	}
}

// judge checks the journal: terms do not overlap, each term's node is the first of the
// line, and the numbers of these nodes grow.
func (e *election) judge() {
	e.t.Helper()
	terms, wrongs := verdict(e.entries())
	for _, wrong := range wrongs {
		e.t.Error(wrong)
	}
	if terms <= e.handOvers {
		e.t.Errorf("the journal has %d terms", terms)
	}
}

// entries returns the journal's entries, in the order of ZooKeeper's transactions.
func (s *stage) entries() (all []string) {
	s.t.Helper()
	names, _, err := s.conn.Children(s.journal)
	ok(s.t, err)
	slices.Sort(names)
	for _, name := range names {
		data, _, err := s.conn.Get(s.journal + "/" + name)
		ok(s.t, err)
		all = append(all, string(data))
	}
	return all
}

// verdict counts the terms of a journal, and returns what is wrong with them.
func verdict(entries []string) (terms int, wrongs []string) {
	wrong := func(format string, args ...any) { wrongs = append(wrongs, fmt.Sprintf(format, args...)) }
	var inside, highest string
	for _, entry := range entries {
		words := strings.Fields(entry)
		if words[0] == "exit" {
			if inside == words[1] {
				inside = ""
			}
			continue
		}
		terms++
		id, node, head := words[1], words[2], words[3]
		if inside != "" {
			wrong("%s leads while %s does", id, inside)
		}
		if head != id {
			wrong("%s leads, and %s of %s heads the line", id, node, head)
		}
		if number(node) <= highest {
			wrong("%s leads with %s after %s", id, node, highest)
		}
		inside, highest = id, number(node)
	}
	return terms, wrongs
}

func TestTheJournalTellsWhatIsWrong(t *testing.T) {
	const a, b = "enter a n-0000000001 a", "enter b n-0000000002 b"
	for want, entries := range map[string][]string{
		"":                     {a, "exit a", b},
		"b leads while a does": {a, b},
		"a leads with n-0000000001 after 0000000002":    {b, "exit b", a},
		"b leads, and n-0000000001 of a heads the line": {"enter b n-0000000001 a"},
	} {
		if _, wrongs := verdict(entries); strings.Join(wrongs, "; ") != want {
			t.Errorf("%q: %q, want %q", entries, wrongs, want)
		}
	}
}
