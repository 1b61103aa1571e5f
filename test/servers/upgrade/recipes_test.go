//go:build linux

package upgrade

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pair is an agent of each version, on one server.
type pair struct {
	*stage
	server *server
	a, b   *member
	dir    string
}

// A recipe is shared by both versions: each part is played with the older version first, and with the present one
// first.
var shared = []struct {
	name string
	play func(*pair)
}{
	{"mutex", mutex("mutex", "l1")}, {"kazoo's mutex", mutex("kazoo-mutex", "l2")},
	{"read-write lock", readWrite("", "l3", "l4", "l5")},
	{"kazoo's read-write lock", readWrite("kazoo-", "l6", "l7", "l8")}, {"semaphore", semaphore}, {"elections", handed},
	{"queues", queues}, {"a failed item", failedItem}, {"barriers", barriers}, {"nodes", nodes}, {"numbers", numbers},
}

func TestRecipesAreShared(t *testing.T) {
	on(t, func(t *testing.T, s *server, old version) {
		for i, versions := range [][2]version{{old, present}, {present, old}} {
			stage := newStage(t)
			p := &pair{stage: stage, server: s, dir: fmt.Sprintf("%s/shared%d", s.dir, i)}
			p.a, p.b = stage.launch(versions[0], "a", s.orders(s.addr)),
				stage.launch(versions[1], "b", s.orders(s.addr))
			for _, r := range shared {
				t.Logf("%s first: %s", p.a, r.name)
				r.play(p)
			}
			for _, name := range []string{"l1", "l2", "j", "n", "t", "s"} {
				p.atMost(1, name)
			}
			p.atMost(2, "s1", "s2", "s3") // permits
			p.dies(versions[1])
			p.a.leave()
			p.b.leave()
		}
	})
}

// in demands that an answer is this.
func (p *pair) in(got, want string) {
	p.t.Helper()
	if got != want {
		p.t.Errorf("%q, want %q", got, want)
	}
}

// grows demands that the second token is above the first.
func (p *pair) grows(first, second string) {
	p.t.Helper()
	a, err := strconv.ParseInt(first, 10, 64)
	ok(p.t, err)
	b, err := strconv.ParseInt(second, 10, 64)
	ok(p.t, err)
	if b <= a {
		p.t.Errorf("token %d after %d", b, a)
	}
}

// mutex takes a lock back and forth, by holds of this name.
func mutex(kind, name string) func(*pair) {
	return func(p *pair) {
		path := p.dir + "/" + kind
		for _, turn := range [][2]*member{{p.a, p.b}, {p.b, p.a}} {
			first := turn[0].do("lock %s %s %s first", name, kind, path)
			p.in(turn[1].do("try %s %s %s second", name, kind, path), "busy")
			waits := turn[1].begin("lock %s %s %s second", name, kind, path)
			p.server.awaitChildren(path, 2)
			if waits.answered() {
				p.t.Errorf("%s holds what %s holds: %s", turn[1], turn[0], waits.answer())
			}
			turn[0].do("unlock %s", name)
			p.grows(first, waits.answer())
			turn[1].do("unlock %s", name)
		}
	}
}

// readWrite has readers of both versions share a lock that excludes writers of both. The writer is in all three
// beliefs.
func readWrite(kazoo, reader, other, writer string) func(*pair) {
	return func(p *pair) {
		path := p.dir + "/book" + kazoo
		for _, turn := range [][2]*member{{p.a, p.b}, {p.b, p.a}} {
			turn[0].do("lock %s %sread %s first", reader, kazoo, path)
			turn[1].do("lock %s %sread %s second", other, kazoo, path)
			p.in(turn[0].do("try %s %swrite %s first", writer, kazoo, path), "busy")
			waits := turn[1].begin("lock %s %swrite %s second", writer, kazoo, path)
			p.server.awaitChildren(path, 3)
			turn[1].do("unlock %s", other)
			if waits.answered() {
				p.t.Errorf("%s writes while %s reads: %s", turn[1], turn[0], waits.answer())
			}
			turn[0].do("unlock %s", reader)
			waits.answer()
			p.in(turn[0].do("try %s %sread %s first", reader, kazoo, path), "busy")
			turn[1].do("unlock %s", writer)
			if kazoo == "" {
				turn[0].do("downgrade %s %s first", reader, path)
				turn[1].do("lock %s read %s second", other, path)
				turn[0].do("unlock %s", reader)
				turn[1].do("unlock %s", other)
			}
		}
		p.atMost(1, reader, writer)
		p.atMost(1, other, writer)
	}
}

func semaphore(p *pair) {
	path := p.dir + "/pool"
	for _, turn := range [][2]*member{{p.a, p.b}, {p.b, p.a}} {
		turn[0].do("lock s1 semaphore/2/1 %s first", path)
		turn[1].do("lock s2 semaphore/2/1 %s second", path)
		p.in(turn[0].do("try s3 semaphore/2/1 %s first", path), "busy")
		waits := turn[0].begin("lock s3 semaphore/2/1 %s first", path)
		p.server.awaitChildren(path+"/locks", 1)
		if _, err := turn[1].begin("try s4 semaphore/3/1 %s second", path).result(); err == nil {
			p.t.Errorf("%s takes another limit than the one that %s wrote", turn[1], turn[0])
		}
		turn[1].do("unlock s2")
		waits.answer()
		turn[0].do("unlock s1")
		turn[0].do("unlock s3")
		turn[1].do("lock s semaphore/2/2 %s second", path)
		turn[1].do("unlock s")
		p.server.awaitChildren(path+"/leases", 0)
	}
}

// handed hands a plain election, a selector's line and a job back and forth. A plain election has no guarded writes.
func handed(p *pair) {
	p.a.do("create x %s/register none", p.dir)
	for _, e := range []struct {
		name, command, path string
		guards              bool
	}{
		{"n", "election n %s n_ %s", p.dir + "/plain", false}, {"t", "selector t %s %s", p.dir + "/turns", true},
		{"j", "job j %s %s", p.dir + "/job", true},
	} {
		from := p.now()
		p.a.do(e.command, e.path, "first")
		token, _ := p.a.awaitFrom(from, "leading", e.name)
		if e.guards {
			p.a.do("write %s %s/register %s-a", e.name, p.dir, e.name)
		}
		p.b.do(e.command, e.path, "second")
		p.a.do("leave %s", e.name)
		next, _ := p.b.awaitFrom(from, "leading", e.name)
		p.grows(token[0], next[0])
		if e.guards {
			p.in(p.b.do("write %s %s/register b", e.name, p.dir), "after "+e.name+"-a")
			if _, err := p.a.begin("write %s %s/register late", e.name, p.dir).result(); err == nil {
				p.t.Errorf("%s wrote under a term that is over", p.a)
			}
		}
		p.a.do(e.command, e.path, "first")
		from = p.now()
		p.b.do("leave %s", e.name)
		last, _ := p.a.awaitFrom(from, "leading", e.name)
		p.grows(next[0], last[0])
		p.a.do("leave %s", e.name)
	}
}

// queues has both versions put, and both take: every item comes once, and in the order that the kind of queue promises
// to one.
func queues(p *pair) {
	for _, q := range []struct {
		kind, first, second string
	}{{"plain", "", ""}, {"priority", "-5", "7"}, {"delay", "0s", "1ms"}, {"id", "x", "y"}} {
		for i, how := range []string{"least", "most"} {
			path := fmt.Sprintf("%s/queue-%s-%d", p.dir, q.kind, i)
			from := p.now()
			p.a.do("put q %s %s one %s", q.kind, path, q.first)
			p.b.do("put q %s %s two %s", q.kind, path, q.second)
			if q.kind == "plain" {
				p.a.do("together q plain %s three four", path)
			}
			name := fmt.Sprintf("c-%s-%d", q.kind, i)
			p.b.do("consume %s %s %s %s", name, q.kind, path, how)
			p.awaitItems(from, name, "one", "two")
			p.server.awaitChildren(path, 0)
			p.a.do("consume %s %s %s %s", name, q.kind, path, how)
			for n := range 6 {
				[]*member{p.a, p.b}[n%2].do("put q %s %s item%d %s", q.kind, path, n, q.second)
			}
			p.server.awaitChildren(path, 0)
			p.awaitItems(from, name, "item0", "item5")
			p.a.do("leave %s", name)
			p.b.do("leave %s", name)
			p.once(from, name)
		}
	}
	p.a.do("put q id %s/removed item name", p.dir)
	p.in(p.b.do("remove q id %s/removed name", p.dir), "1")
}

// awaitItems waits until both have been taken, by anybody, and the first of the two first.
func (p *pair) awaitItems(from int, name, first, second string) {
	p.t.Helper()
	for _, item := range []string{first, second} {
		p.await(from, "item "+item, func(l line) bool {
			return len(l.words) == 4 && l.words[0] == "took" && l.words[1] == name && l.words[2] == item
		})
	}
}

// once demands that no item was taken twice.
func (p *pair) once(from int, name string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	var taken []string
	for _, l := range p.lines[from:] {
		if len(l.words) == 4 && l.words[0] == "took" && l.words[1] == name {
			taken = append(taken, l.words[2])
		}
	}
	if some := slices.Compact(slices.Sorted(slices.Values(taken))); len(some) != len(taken) || len(some) < 8 {
		p.t.Errorf("%s: taken were %q", name, taken)
	}
}

// failedItem has one version fail on an item and the other go on with it: the tries are counted in ZooKeeper.
func failedItem(p *pair) {
	path := p.dir + "/failing"
	for _, turn := range [][2]*member{{p.a, p.b}, {p.b, p.a}} {
		from := p.now()
		turn[0].do("put q plain %s bad", path)
		turn[1].do("consume f plain %s fail", path)
		for try := 1; try <= 3; try++ {
			turn[1].awaitFrom(from, "took", "f", "bad", strconv.Itoa(try))
		}
		p.server.awaitChildren(path+"-dead", 1)
		turn[1].do("leave f")
		turn[0].do("consume d plain %s-dead least", path)
		turn[0].awaitFrom(from, "took", "d", "bad")
		p.server.awaitChildren(path+"-dead", 0)
		turn[0].do("leave d")
	}
}

func barriers(p *pair) {
	for i, turn := range [][2]*member{{p.a, p.b}, {p.b, p.a}} {
		double := fmt.Sprintf("%s/double%d", p.dir, i)
		waits := turn[0].begin("enter d%d %s 2", i, double)
		p.server.awaitChildren(double, 1)
		if waits.answered() {
			p.t.Errorf("%s alone has entered a barrier of two: %s", turn[0], waits.answer())
		}
		turn[1].do("enter d%d %s 2", i, double)
		waits.answer()
		leaves := turn[0].begin("exit d%d", i)
		turn[1].do("exit d%d", i)
		leaves.answer()
		p.server.awaitChildren(double, 0)

		barrier, gate := fmt.Sprintf("%s/barrier%d", p.dir, i), fmt.Sprintf("%s/gate%d", p.dir, i)
		turn[0].do("set-barrier x %s", barrier)
		waits = turn[1].begin("wait-barrier x %s", barrier)
		turn[0].do("remove-barrier x %s", barrier)
		waits.answer()
		waits = turn[1].begin("wait-gate x %s", gate)
		turn[0].do("open-gate x %s", gate)
		waits.answer()
		turn[0].do("shut-gate x %s", gate)
	}
}

// nodes has both versions keep nodes, and read each other's.
func nodes(p *pair) {
	p.a.do("persist p %s/kept one", p.dir)
	p.in(p.b.do("get x %s/kept", p.dir), "one")
	p.a.do("data p two")
	p.in(p.b.do("get x %s/kept", p.dir), "two")
	p.a.do("leave p")
	p.b.do("persist p %s/kept three", p.dir)
	p.in(p.a.do("get x %s/kept", p.dir), "three")
	p.b.do("leave p")
	p.a.do("member m %s/group first here", p.dir)
	p.b.do("member m %s/group second there", p.dir)
	for _, m := range []*member{p.a, p.b} {
		p.in(m.do("members x %s/group", p.dir), "first=here second=there")
	}
	p.a.do("leave m")
	p.in(p.b.do("members x %s/group", p.dir), "second=there")
	p.b.do("leave m")
}

// numbers has both versions add at the same time: nothing is lost.
func numbers(p *pair) {
	var all []*call
	for range 20 {
		all = append(all, p.a.begin("add x %s/long 1", p.dir), p.b.begin("add x %s/long 100", p.dir))
	}
	for _, c := range all {
		c.answer()
	}
	p.in(p.a.do("long x %s/long", p.dir), "2020")
	p.in(p.b.do("swap x %s/long 2020 7", p.dir), "7")
	p.in(p.a.do("put-count x %s/count 5", p.dir), "5")
	p.in(p.b.do("try-count x %s/count 6", p.dir), "6")
	p.in(p.a.do("count x %s/count", p.dir), "6")
}

// dies kills an agent that holds a lock, permits, an item and a job. The other version gets all of them.
func (p *pair) dies(of version) {
	dies := p.launch(of, "c", p.server.orders(p.server.addr))
	path := p.dir + "/left"
	dies.do("lock k1 mutex %s/mutex c", path)
	dies.do("lock k2 semaphore/1/1 %s/pool c", path)
	dies.do("job k3 %s/job c", path)
	dies.awaitLine("leading", "k3")
	dies.do("member k4 %s/group c there", path)
	mutex, pool := p.a.begin("lock k1 mutex %s/mutex a", path), p.a.begin("lock k2 semaphore/1/1 %s/pool a", path)
	p.a.do("job k3 %s/job a", path)
	p.server.awaitChildren(path+"/mutex", 2)
	dies.kill()
	mutex.answer()
	pool.answer()
	p.a.awaitLine("leading", "k3")
	p.server.awaitChildren(path+"/group", 0)
	for _, name := range []string{"k1", "k2", "k3"} {
		p.atMost(1, name)
	}
	for _, command := range strings.Split("unlock k1,unlock k2,leave k3", ",") {
		p.a.do("%s", command)
	}
}
