package interop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// shardTeam is how ten members share shards, of one library.
type shardTeam struct {
	name     string
	balances bool
	member   func(id string) shardMember
}

// shardMember is one member, behind a proxy.
type shardMember struct {
	proxy *proxy
	begin func() // returns at once, also when it was ended before
	end   func() // gives its shards up
}

// shardBook notes who works on each shard, and what that took.
type shardBook struct {
	members map[string]shardMember

	mu       sync.Mutex
	dead     map[string]bool
	owner    []string    // who works on a shard; "": nobody
	last     []string    // who did before
	since    []time.Time // of an owner of "": since when
	idle     time.Duration
	moves    int           // beginnings of work by another member than before
	stops    int           // ends of work
	more     chan struct{} // closed at every change
	began    time.Time
	changed  time.Time
	first    int64 // requests before
	requests int64 // until the last change
	twice    []string
}

// shardCost is what one change of the members took.
type shardCost struct {
	took     time.Duration // until nothing changed any more
	idle     time.Duration // for how long a shard was nobody's, on average
	requests int64
	moves    int
	stops    int
	least    int // shards of a member
	most     int
}

// Three ways to share shards meet the same changes on the same server: this library's Shards, one latch for each
// shard, and kazoo's SetPartitioner. It is no test of speed: it prints what each took. By Shards, no more shards stop
// than have to move.
func TestShardsSideBySide(t *testing.T) {
	if !*full {
		return
	}
	const shards, members = 1000, 10
	s := stageOn(t, realzk.Start(t, realzk.Options{Properties: []string{"-Xmx1g"}}), brief)
	for _, newTeam := range []func(*shardBook) shardTeam{s.shardTeam, s.latchTeam, s.partitionTeam} {
		b := &shardBook{
			members: map[string]shardMember{}, dead: map[string]bool{}, owner: make([]string, shards),
			last: make([]string, shards), since: make([]time.Time, shards),
			more: make(chan struct{}),
		}
		s.shareShards(b, newTeam(b), members)
		for id, m := range b.members {
			if !b.dead[id] {
				m.end()
			}
		}
	}
}

// settle is for how long the members have to stay the same before shards move.
const settle = 2 * time.Second

// shareShards starts the members, cuts one off, adds one, and restarts each.
func (s *stage) shareShards(b *shardBook, team shardTeam, members int) {
	s.t.Helper()
	ids := make([]string, members)
	for i := range ids {
		ids[i] = fmt.Sprintf("m%d", i)
		b.members[ids[i]] = team.member(ids[i])
	}
	start := s.costs(b, team.name, "start", func() {
		for _, id := range ids {
			b.members[id].begin()
		}
	})
	killed := s.costs(b, team.name, "one is killed", func() {
		b.kill(ids[0])
	})
	added := s.costs(b, team.name, "one is added", func() {
		b.members["more"] = team.member("more")
		b.members["more"].begin()
	})
	ids[0] = "more"
	rolling := s.costs(b, team.name, "rolling restart", func() {
		for _, id := range ids {
			b.members[id].end()
			b.members[id].begin()
			s.quiet(b)
		}
	})
	for _, c := range []shardCost{start, killed, added, rolling} {
		if team.balances && (c.most > len(b.owner)/(members-1)+1 || c.least < len(b.owner)/members-1) {
			s.t.Errorf("%s: a member has %d shards, another one %d", team.name, c.most, c.least)
		}
	}
	if share := len(b.owner)/members + 1; team.name == ours && (killed.stops > 0 || added.stops > share+members) {
		s.t.Errorf("%d shards of live members stopped when one was killed, %d when one was added; a share is %d",
			killed.stops, added.stops, share)
	}
	if team.name == ours && rolling.moves > 2*len(b.owner) {
		s.t.Errorf("a rolling restart has moved %d shards %d times", len(b.owner), rolling.moves)
	}
	if len(b.twice) > 0 {
		s.t.Errorf("%s: %q", team.name, b.twice)
	}
}

const ours = "Shards"

// costs returns what a change of the members takes until nothing changes any more.
func (s *stage) costs(b *shardBook, team, what string, change func()) shardCost {
	s.t.Helper()
	b.mu.Lock()
	b.idle, b.moves, b.stops, b.began, b.changed = 0, 0, 0, time.Now(), time.Now()
	b.first = b.count()
	b.requests = b.first
	for shard, owner := range b.owner {
		if owner == "" {
			b.since[shard] = b.began
		}
	}
	b.mu.Unlock()
	change()
	s.quiet(b)
	b.mu.Lock()
	defer b.mu.Unlock()
	each := map[string]int{}
	for _, owner := range b.owner {
		each[owner]++
	}
	c := shardCost{took: b.changed.Sub(b.began), idle: b.idle / time.Duration(len(b.owner)),
		requests: b.requests - b.first, moves: b.moves, stops: b.stops, least: len(b.owner)}
	for id := range b.members {
		if !b.dead[id] {
			c.least, c.most = min(c.least, each[id]), max(c.most, each[id])
		}
	}
	s.t.Logf("%-16s %-16s %8.1f s, a shard was nobody's for %6.2f s, %7d requests, %5d moves, %5d stops, %4d to %4d "+
		"shards a member",
		team, what, c.took.Seconds(), c.idle.Seconds(), c.requests, c.moves, c.stops, c.least, c.most)
	return c
}

// quiet waits until each shard is a live member's, and nothing has changed for a while.
func (s *stage) quiet(b *shardBook) {
	s.t.Helper()
	deadline := time.After(2 * within)
	for {
		b.mu.Lock()
		more, all := b.more, !slices.Contains(b.owner, "")
		b.mu.Unlock()
		select {
		case <-more:
		case <-time.After(2 * settle):
			if all {
				return
			}
		case <-deadline:
			s.t.Fatalf("not all shards are owned, or they go on to move: %v", all)
		}
	}
}

// count returns how many requests all members have sent.
func (b *shardBook) count() (n int64) {
	for _, m := range b.members {
		n += m.proxy.traffic.requests.Load()
	}
	return n
}

// owns notes that a member works on a shard, or not any more.
func (b *shardBook) owns(id string, shard int, works bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	was, now := b.owner[shard], time.Now()
	switch {
	case b.dead[id] || !works && was != id || works && was == id:
		return
	case works && was != "":
		b.twice = append(b.twice, fmt.Sprintf("%d is %s's and %s's", shard, was, id))
	case works:
		b.idle += now.Sub(b.since[shard])
		if b.last[shard] != id {
			b.moves++
		}
		b.owner[shard], b.last[shard] = id, id
	default:
		b.stops++
		b.owner[shard], b.since[shard] = "", now
	}
	b.changed, b.requests = now, b.count()
	close(b.more)
	b.more = make(chan struct{})
}

// kill cuts a member off until the test ends. What it works on is nobody's.
func (b *shardBook) kill(id string) {
	b.members[id].proxy.hole()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dead[id] = true
	for shard, owner := range b.owner {
		if owner == id {
			b.owner[shard], b.since[shard] = "", time.Now()
		}
	}
}

// shardClient opens a client behind a proxy.
func (s *stage) shardClient() (*proxy, *incumbent.Client) {
	s.t.Helper()
	proxy := newProxy(s.t, s.addr)
	c, err := incumbent.Open(context.Background(), incumbent.Config{Servers: proxy.addr(), SessionTimeout: s.timeout,
		Silent: true})
	ok(s.t, err)
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = c.Close(ctx) // one that is cut off says that it is
	})
	ok(s.t, c.WaitConnected(s.t.Context()))
	return proxy, c
}

// shardTeam are members of this library's Shards.
func (s *stage) shardTeam(b *shardBook) shardTeam {
	return shardTeam{ours, true, func(id string) shardMember {
		proxy, c := s.shardClient()
		group, err := c.Shards("/side/shards", len(b.owner), incumbent.ShardsOptions{Settle: settle,
			ID: id})
		ok(s.t, err)
		work := func(one *incumbent.Shard) error {
			b.owns(id, one.ID, true)
			<-one.Context().Done()
			b.owns(id, one.ID, false)
			return nil
		}
		end := func() {}
		return shardMember{proxy, func() {
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan error, 1)
			go func() { ended <- group.Run(ctx, work) }()
			end = func() {
				cancel()
				if err := <-ended; err != nil && !errors.Is(err, incumbent.ErrNotDeleted) {
					s.t.Error(err)
				}
			}
		}, func() { end() }}
	}}
}

// latchTeam are members with one latch for each shard.
func (s *stage) latchTeam(b *shardBook) shardTeam {
	return shardTeam{"a latch each", false, func(id string) shardMember {
		proxy, c := s.shardClient()
		end := func() {}
		return shardMember{proxy, func() {
			var all sync.WaitGroup
			ctx, cancel := context.WithCancel(context.Background())
			for shard := range b.owner {
				path := fmt.Sprintf("/side/latches/%d", shard)
				latch, err := c.Latch(path, incumbent.LatchOptions{ID: id})
				ok(s.t, err)
				all.Go(func() {
					_ = latch.Run(ctx, func(l *incumbent.Leadership) error {
						b.owns(id, shard, true)
						<-l.Context().Done()
						b.owns(id, shard, false)
						return nil
					})
				})
			}
			end = func() {
				cancel()
				all.Wait()
			}
		}, func() { end() }}
	}}
}

// partitionTeam are members of kazoo's SetPartitioner, each in a process of its own.
func (s *stage) partitionTeam(b *shardBook) shardTeam {
	return shardTeam{"SetPartitioner", true, func(id string) shardMember {
		p := s.others("python")
		go s.hearPartitions(b, p, id)
		return shardMember{p.proxy, func() {
			p.say("partition %s /side/partitions %d %d", id, len(b.owner), int(settle.Seconds()))
		}, func() {
			from := s.now()
			p.say("depart %s", id)
			s.await(from, id+" to depart", func(one saying) bool { return one.peer == p && one.words[0] == "departed" })
		}}
	}}
}

// hearPartitions notes what a member of kazoo's says that it owns, until the test ends.
func (s *stage) hearPartitions(b *shardBook, p *peer, id string) {
	from := 0
	for {
		s.mu.Lock()
		more := s.more
		s.mu.Unlock()
		said := s.since(from)
		from += len(said)
		for _, one := range said {
			if one.peer == p && len(one.words) > 1 && one.words[0] == "owns" {
				b.ownsOnly(id, one.words[2:])
			}
		}
		select {
		case <-more:
		case <-s.t.Context().Done():
			return
		}
	}
}

// ownsOnly notes that a member works on these shards, and on no others.
func (b *shardBook) ownsOnly(id string, words []string) {
	has := make([]bool, len(b.owner))
	for _, word := range words {
		if shard, err := strconv.Atoi(word); err == nil && shard < len(has) {
			has[shard] = true
		}
	}
	for shard, works := range has {
		b.owns(id, shard, works)
	}
}
