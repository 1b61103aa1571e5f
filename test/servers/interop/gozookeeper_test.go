package interop

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
)

// go-zookeeper's Lock and a Mutex are one lock: killed and expired holders included, no two hold it at the same time,
// and each comes in its turn.
func TestGoZookeeperAndMutexesShareALock(t *testing.T) {
	t.Parallel()
	s := newStageOf(t, brief)
	e := &election{stage: s, recipes: map[string]string{"zk": "zk", "go": "mutex"}, label: "lock-", handOvers: 60}
	e.share(s.zk(), s.golang())
}

// upgrade is the rolling upgrade of a service whose instances are processes, each with one place in the line.
type upgrade struct {
	*stage
	instances []*peer
	at        int // position in what was said
	born      int
	led       map[string]int
}

// add starts one more instance.
func (u *upgrade) add(p *peer, recipe string) {
	u.t.Helper()
	u.born++
	p.launch()
	u.instances = append(u.instances, p)
	p.join(recipe, fmt.Sprintf("%s-%d", p.name, u.born))
}

// next waits for the next holder.
func (u *upgrade) next() (holder *peer, id string) {
	u.t.Helper()
	said, at := u.await(u.at, "the next holder", func(s saying) bool { return s.words[0] == "leader" })
	u.at = at
	u.led[said.words[1]]++
	return said.peer, said.words[1]
}

// turns lets so many holders hold the lock, one after the other.
func (u *upgrade) turns(n int) {
	u.t.Helper()
	for range n {
		holder, id := u.next()
		u.filled(len(u.instances))
		holder.say("yield %s", id)
	}
}

// kill ends an instance with SIGKILL. What it says about its term, the journal gets from the test.
func (u *upgrade) kill(p *peer) {
	u.t.Helper()
	members := p.members
	p.kill()
	for _, id := range members {
		_, err := u.conn.Create(u.journal+"/e-", []byte("exit "+id), zk.FlagSequence, zk.WorldACL(zk.PermAll))
		ok(u.t, err)
	}
	u.instances = slices.DeleteFunc(u.instances, func(other *peer) bool { return other == p })
}

// of returns an instance of a side that does not hold the lock.
func (u *upgrade) of(side string, but *peer) *peer {
	u.t.Helper()
	i := slices.IndexFunc(u.instances, func(p *peer) bool { return p.name == side && p != but })
	if i < 0 {
		u.t.Fatalf("there is no instance of %s", side)
	}
	return u.instances[i]
}

// A service of four instances goes from go-zookeeper's Lock to a Mutex, one process at a time, half of them killed
// while they hold the lock and half while they wait. One comes back as it was, and goes again. Never do two hold the
// lock, and each that is there in the end has its turn.
func TestARollingUpgradeFromGoZookeeper(t *testing.T) {
	t.Parallel()
	s := newStageOf(t, brief)
	u := &upgrade{stage: s, led: map[string]int{}}
	for range 4 {
		u.add(s.zk(), "zk")
	}
	replace := func(side string, holding bool, by *peer, recipe string) {
		t.Helper()
		for {
			holder, id := u.next()
			if holding != (holder.name == side) {
				u.filled(len(u.instances))
				holder.say("yield %s", id)
				continue
			}
			victim := holder
			if !holding {
				victim = u.of(side, holder)
			}
			u.kill(victim)
			u.add(by, recipe)
			if !holding {
				holder.say("yield %s", id)
			}
			return
		}
	}
	u.turns(5)
	replace("zk", true, s.golang(), "mutex")
	u.turns(5)
	replace("zk", false, s.golang(), "mutex") // while a Mutex holds the lock
	u.turns(3)
	replace("go", true, s.zk(), "zk") // one goes back
	u.turns(5)
	replace("zk", true, s.golang(), "mutex")
	replace("zk", false, s.golang(), "mutex")
	u.turns(3)
	replace("zk", true, s.golang(), "mutex")
	clear(u.led)
	u.turns(2 * len(u.instances))
	for _, p := range u.instances {
		if p.name != "go" || u.led[p.members[0]] == 0 {
			t.Errorf("%s of %s had no turn in the end: %v", p.members[0], p.name, u.led)
		}
	}
	terms, wrongs := verdict(s.entries())
	if len(wrongs) > 0 {
		t.Error(strings.Join(wrongs, "\n"))
	}
	t.Logf("%d terms", terms)
}
