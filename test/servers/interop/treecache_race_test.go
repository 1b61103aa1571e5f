package interop

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// held is what it costs to have a tree in memory, and to follow its changes.
type held struct {
	read    time.Duration
	traffic [3]int64 // requests, bytes sent, bytes received
	watches int64    // on the server
	changes [3]int64 // the traffic of all changes
}

// treeHolder is a cache of a tree in a process, behind a proxy.
type treeHolder struct {
	name  string
	proxy *proxy
	hold  func(round, path string, nodes int) (read time.Duration)
	fence func(round, path, data string) // returns when the cache knows this of the top
	drop  func(round string)
}

// Everybody has the same tree in memory and follows the same changes, on the same server, in turns whose order
// changes. It is no test of speed: it prints what each took, the median of the rounds.
func TestTreeCachesSideBySide(t *testing.T) {
	s := stageOn(t, realzk.Start(t, realzk.Options{Properties: []string{"-Xmx1g"}}), 40*time.Second)
	rounds, warm, dirs := 1, 0, 10
	if *full {
		rounds, warm, dirs = 5, 2, 100
	}
	const path, each = "/side", 99
	nodes := s.plant(path, dirs, each)
	holders := []treeHolder{
		s.ourHolder("ours", incumbent.Optimizations{}),
		s.ourHolder("ours, no recursive watch", incumbent.Optimizations{RecursiveWatches: true}),
		s.theirHolder("CuratorCache", s.javaOf("Caches")),
		s.theirHolder("kazoo's TreeCache", s.others("python")),
	}
	all, watches := make([][]held, len(holders)), make([]int64, len(holders))
	for round := range warm + rounds {
		for turn := range holders {
			i := (turn + round) % len(holders)
			h := s.measure(holders[i], fmt.Sprintf("%d-%d", i, round), path, nodes, dirs)
			if round == 0 { // later, kazoo's server has watches of caches that are closed
				watches[i] = h.watches
			}
			if round >= warm {
				all[i] = append(all[i], h)
			}
		}
	}
	t.Logf("%d nodes, medians of %d rounds: %-24s %8s %9s %10s %10s %8s | 300 changes: %9s %10s %10s", nodes, rounds,
		"", "read", "requests", "sent", "received", "watches", "requests", "sent", "received")
	for i, h := range holders {
		m := func(of func(held) int64) int64 {
			var v []int64
			for _, one := range all[i] {
				v = append(v, of(one))
			}
			slices.Sort(v)
			return v[len(v)/2]
		}
		t.Logf("%-40s %5d ms %9d %10d %10d %8d | %9d %10d %10d", h.name,
			m(func(h held) int64 { return h.read.Milliseconds() }),
			m(func(h held) int64 { return h.traffic[0] }), m(func(h held) int64 { return h.traffic[1] }),
			m(func(h held) int64 { return h.traffic[2] }),
			watches[i],
			m(func(h held) int64 { return h.changes[0] }), m(func(h held) int64 { return h.changes[1] }),
			m(func(h held) int64 { return h.changes[2] }))
	}
	ours := all[0][0]
	for i, theirs := range all[1:] {
		if ours.traffic[0] >= theirs[0].traffic[0] || watches[0] > watches[i+1] {
			t.Errorf("ours has read the tree with %d requests and %d watches, %s with %d and %d", ours.traffic[0],
				watches[0], holders[i+1].name, theirs[0].traffic[0], watches[i+1])
		}
	}
}

// plant creates a tree of two levels, and returns the number of its nodes.
func (s *stage) plant(path string, dirs, each int) int {
	s.t.Helper()
	data := []byte(strings.Repeat("x", 100))
	_, err := s.conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll))
	ok(s.t, err)
	for d := range dirs {
		dir := fmt.Sprintf("%s/service-%03d", path, d)
		ops := []any{&zk.CreateRequest{Path: dir, Data: data, Acl: zk.WorldACL(zk.PermAll)}}
		for i := range each {
			ops = append(ops,
				&zk.CreateRequest{Path: fmt.Sprintf("%s/instance-%05d", dir, i), Data: data,
					Acl: zk.WorldACL(zk.PermAll)})
		}
		_, err := s.conn.Multi(ops...)
		ok(s.t, err)
	}
	return 1 + dirs*(1+each)
}

// measure has one of them read the tree, and follow a hundred creates, writes and deletions.
func (s *stage) measure(by treeHolder, round, path string, nodes, dirs int) (h held) {
	s.t.Helper()
	before := s.watchCount()
	by.proxy.traffic.reset()
	h.read = by.hold(round, path, nodes)
	h.traffic, h.watches = by.proxy.traffic.counts(), s.watchCount()-before
	s.reaches(by, round, path, "begin")
	by.proxy.traffic.reset()
	for i := range 100 {
		node := fmt.Sprintf("%s/service-%03d/new-%d", path, i%dirs, i)
		_, err := s.conn.Create(node, []byte("1"), 0, zk.WorldACL(zk.PermAll))
		ok(s.t, err)
		_, err = s.conn.Set(node, []byte("2"), -1)
		ok(s.t, err)
		ok(s.t, s.conn.Delete(node, -1))
	}
	s.reaches(by, round, path, "end")
	h.changes = by.proxy.traffic.counts()
	by.drop(round)
	return h
}

// reaches returns when a cache has got as far as a write of the top that is made now.
func (s *stage) reaches(by treeHolder, round, path, mark string) {
	data := mark + "-" + round
	_, err := s.conn.Set(path, []byte(data), -1)
	ok(s.t, err)
	by.fence(round, path, data)
}

func (c *traffic) counts() [3]int64 { return [3]int64{c.requests.Load(), c.up.Load(), c.down.Load()} }

// watchCount returns how many watches the server has.
func (s *stage) watchCount() int64 {
	s.t.Helper()
	text, err := realzk.Word(s.addr, "mntr")
	ok(s.t, err)
	for line := range strings.Lines(text) {
		if count, found := strings.CutPrefix(line, "zk_watch_count\t"); found {
			n, err := strconv.ParseInt(strings.TrimSpace(count), 10, 64)
			ok(s.t, err)
			return n
		}
	}
	s.t.Fatalf("mntr does not say how many watches there are:\n%s", text)
	return 0
}

// ourHolder is this library's cache, in the test's own process.
func (s *stage) ourHolder(name string, without incumbent.Optimizations) treeHolder {
	s.t.Helper()
	h := treeHolder{name: name, proxy: newProxy(s.t, s.addr)}
	ctx := context.Background()
	c, err := incumbent.Open(ctx,
		incumbent.Config{Servers: h.proxy.addr(), SessionTimeout: s.timeout, Disable: without})
	ok(s.t, err)
	s.t.Cleanup(func() { ok(s.t, c.Close(ctx)) })
	ok(s.t, c.WaitConnected(ctx))
	var tree *incumbent.TreeCache
	h.hold = func(_, path string, nodes int) time.Duration {
		var err error
		tree, err = c.TreeCache(path, incumbent.TreeCacheOptions{})
		ok(s.t, err)
		begin := time.Now()
		ok(s.t, tree.Start())
		ok(s.t, tree.WaitReady(ctx))
		read := time.Since(begin)
		known := 0
		for range tree.All() {
			known++
		}
		if known != nodes {
			s.t.Fatalf("%s knows %d of %d nodes", name, known, nodes)
		}
		return read
	}
	h.fence = func(_, path, data string) {
		ctx, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		for change, err := range tree.Changes(ctx) {
			ok(s.t, err)
			if change.Path == path && string(change.Data) == data {
				return
			}
		}
		s.t.Fatalf("%s does not know %s", name, data)
	}
	h.drop = func(string) { ok(s.t, tree.Close(ctx)) }
	return h
}

// theirHolder is the cache of a peer.
func (s *stage) theirHolder(name string, p *peer) treeHolder {
	said := map[string]int{} // where the sayings of a round begin
	return treeHolder{name: name, proxy: p.proxy,
		hold: func(round, path string, nodes int) time.Duration {
			s.t.Helper()
			said[round] = s.now()
			p.say("hold %s %s", round, path)
			held, _ := s.await(said[round], name+" to read the tree", func(one saying) bool {
				return one.peer == p && one.words[0] == "held" && one.words[1] == round
			})
			if held.words[3] != fmt.Sprint(nodes) {
				s.t.Fatalf("%s knows %s of %d nodes", name, held.words[3], nodes)
			}
			took, err := strconv.ParseInt(held.words[2], 10, 64)
			ok(s.t, err)
			return time.Duration(took)
		},
		fence: func(round, _, data string) {
			s.t.Helper()
			s.await(said[round], name+" to know "+data, func(one saying) bool {
				return one.peer == p && one.words[0] == "top" && one.words[1] == round && len(one.words) > 2 &&
					one.words[2] == data
			})
		},
		drop: func(round string) { p.does("drop", round) },
	}
}
