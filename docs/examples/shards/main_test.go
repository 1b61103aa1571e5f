package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func TestShare(t *testing.T) {
	for _, one := range []struct {
		last  deal
		alive []string
		want  string
	}{
		{nil, []string{"a"}, `{"a":[0,1,2,3,4]}`},
		{deal{"a": {0, 1, 2, 3, 4}}, []string{"a", "b"}, `{"a":[0,1,2],"b":[3,4]}`},
		{deal{"a": {0, 1, 2}, "b": {3, 4}}, []string{"b"}, `{"b":[0,1,2,3,4]}`},
		{deal{"a": {0, 1, 2}, "b": {3, 4}}, []string{"b", "c"}, `{"b":[2,3,4],"c":[0,1]}`},
		{deal{"a": {0}, "b": {1, 2}, "c": {3, 4}}, []string{"a", "b", "c", "d", "e", "f"}, `{"a":[0],"b":[1],"c":[3],"d":[2],"e":[4],"f":[]}`},
		{deal{"a": {0, 1, 7}, "b": {1}}, []string{"a", "b"}, `{"a":[0,1,4],"b":[2,3]}`},
		{deal{"a": {0}}, nil, `{}`},
	} {
		got, _ := json.Marshal(share(one.last, one.alive, 5))
		if string(got) != one.want {
			t.Errorf("after %v, %v have %s, want %s", one.last, one.alive, got, one.want)
		}
	}
}

// FuzzShare: every shard is dealt once, fairly, and the same again.
func FuzzShare(f *testing.F) {
	f.Add(uint8(5), uint8(3), uint8(2))
	f.Fuzz(func(t *testing.T, shards, before, after uint8) {
		names := func(n uint8) (all []string) {
			for i := range n % 20 {
				all = append(all, fmt.Sprint("i", i))
			}
			return all
		}
		last := share(nil, names(before), int(shards))
		got := share(last, names(after), int(shards))
		if after%20 == 0 {
			return
		}
		var all []int
		least, most := int(shards), 0
		for _, own := range got {
			all = append(all, own...)
			least, most = min(least, len(own)), max(most, len(own))
		}
		slices.Sort(all)
		if len(all) != int(shards) || len(slices.Compact(all)) != int(shards) || most-least > 1 {
			t.Fatalf("%d shards: %v", shards, got)
		}
	})
}

// process is one instance in a test.
type process struct {
	client *incumbent.Client
	end    func()

	mu     sync.Mutex
	shards []int // what it works on
	more   chan struct{}
}

func (p *process) work(shards []int, _ int32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shards = shards
	close(p.more)
	p.more = make(chan struct{})
}

// worksOn waits until the instance works on so many shards.
func (p *process) worksOn(t *testing.T, ctx context.Context, count int) {
	t.Helper()
	for {
		p.mu.Lock()
		now, more := len(p.shards), p.more
		p.mu.Unlock()
		if now == count {
			return
		}
		select {
		case <-more:
		case <-ctx.Done():
			t.Fatalf("it works on %d shards, want %d", now, count)
		}
	}
}

func begin(t *testing.T, ctx context.Context, srv *zkmem.Server, id string) *process {
	t.Helper()
	client, err := incumbent.Open(ctx, incumbent.Config{Servers: srv.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	p := &process{client: client, more: make(chan struct{})}
	one := &instance{client: client, job: "/job", id: id, shards: 5, work: p.work}
	go func() {
		defer close(ended)
		_ = one.run(ctx)
	}()
	p.end = func() {
		cancel()
		<-ended
		_ = client.Close(context.WithoutCancel(ctx))
	}
	t.Cleanup(p.end)
	return p
}

// owner is the session of an instance's node, 0 if there is none.
func owner(v *zkmem.View, id string) int64 {
	_, stat, err := v.Get("/job/instances/" + id)
	if err != nil {
		return 0
	}
	return stat.EphemeralOwner
}

// dealtTo waits until the shards are dealt among so many instances that are there.
func dealtTo(t *testing.T, ctx context.Context, srv *zkmem.Server, instances int) (now deal) {
	t.Helper()
	err := srv.WaitFor(ctx, func(v *zkmem.View) bool {
		data, _, err := v.Get("/job/sharding")
		now = deal{}
		if err != nil || json.Unmarshal(data, &now) != nil || len(now) != instances || len(v.Children("/job/instances")) != instances {
			return false
		}
		shards := 0
		for _, own := range now {
			shards += len(own)
		}
		return shards == 5
	})
	if err != nil {
		t.Fatalf("no deal among %d: %v (%v)", instances, now, err)
	}
	return now
}

// An instance whose session expired is there again in the next one, and works on its shards, alone or with another.
func TestAnExpiryIsSurvived(t *testing.T) {
	for _, ids := range [][]string{{"a"}, {"a", "b"}} {
		t.Run(fmt.Sprint(len(ids)), func(t *testing.T) {
			srv := zkmem.Start(t)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			all := map[string]*process{}
			for i, id := range ids {
				all[id] = begin(t, ctx, srv, id)
				dealtTo(t, ctx, srv, i+1)
			}
			for range 3 {
				for _, id := range ids {
					var session int64
					srv.View(func(v *zkmem.View) { session = owner(v, id) })
					srv.ExpireSession(session)
					if err := srv.WaitFor(ctx, func(v *zkmem.View) bool { now := owner(v, id); return now != 0 && now != session }); err != nil {
						t.Fatalf("%s is not there again: %v", id, err)
					}
				}
			}
			for id, own := range dealtTo(t, ctx, srv, len(ids)) {
				all[id].worksOn(t, ctx, len(own))
			}
		})
	}
}

// The shards of an instance that was killed are another's when its session ends.
func TestAKilledInstanceIsReplaced(t *testing.T) {
	srv := zkmem.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	begin(t, ctx, srv, "a")
	dealtTo(t, ctx, srv, 1)
	b := begin(t, ctx, srv, "b")
	dealtTo(t, ctx, srv, 2)
	var session int64
	srv.View(func(v *zkmem.View) { session = owner(v, "a") })
	srv.Freeze(zkmem.Inbound, session) // it says no more, as the dead
	srv.ExpireSession(session)
	err := srv.WaitFor(ctx, func(v *zkmem.View) bool { return owner(v, "a") != session })
	if err != nil {
		t.Fatal(err)
	}
	b.worksOn(t, ctx, 5)
}

// In an outage nobody works, because others may have the shards; after it, everybody does again.
func TestAnOutageIsSurvived(t *testing.T) {
	srv := zkmem.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a := begin(t, ctx, srv, "a")
	dealtTo(t, ctx, srv, 1)
	b := begin(t, ctx, srv, "b")
	dealtTo(t, ctx, srv, 2)
	for range 2 {
		a.worksOn(t, ctx, 3)
		b.worksOn(t, ctx, 2)
		srv.Stop()
		a.worksOn(t, ctx, 0)
		b.worksOn(t, ctx, 0)
		if err := srv.Restart(); err != nil {
			t.Fatal(err)
		}
	}
	a.worksOn(t, ctx, 3)
	b.worksOn(t, ctx, 2)
}

func TestTheLeaderDealsAndHandsOn(t *testing.T) {
	srv := zkmem.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dealt := func(instances int) deal {
		t.Helper()
		return dealtTo(t, ctx, srv, instances)
	}
	all := map[string]*process{"a": begin(t, ctx, srv, "a")}
	if now := dealt(1); len(now["a"]) != 5 {
		t.Errorf("%v", now)
	}
	for i, id := range []string{"b", "c", "d", "e", "f"} {
		all[id] = begin(t, ctx, srv, id)
		dealt(i + 2)
	}
	now := dealt(6)
	none := 0
	for _, own := range now {
		if len(own) == 0 {
			none++
		}
	}
	if none != 1 {
		t.Errorf("of six instances %d have no shard: %v", none, now)
	}
	// The leader itself goes, and others after it: the next leader hands on.
	for left := 5; left > 0; left-- {
		var leader string
		err := srv.WaitFor(ctx, func(v *zkmem.View) bool {
			data, _, err := v.Get("/job/leader/election/instance")
			leader = string(data)
			return err == nil && all[leader] != nil
		})
		if err != nil {
			t.Fatal(err)
		}
		all[leader].end()
		delete(all, leader)
		if now := dealt(left); now[leader] != nil {
			t.Errorf("%s is gone, and has %v", leader, now[leader])
		}
	}
}

// A job of ElasticJob would stop at this program's nodes.
func TestAnElasticJobJobIsRefused(t *testing.T) {
	for _, theirs := range []string{"config", "servers"} {
		srv := zkmem.Start(t)
		client, err := incumbent.Open(t.Context(), incumbent.Config{Servers: srv.Addr()})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close(context.WithoutCancel(t.Context()))
		if _, err := client.Create("/job/"+theirs, nil).Parents().Do(t.Context()); err != nil {
			t.Fatal(err)
		}
		err = (&instance{client: client, job: "/job", id: "a", shards: 3}).run(t.Context())
		if err == nil || !strings.Contains(err.Error(), "/job is an ElasticJob job") {
			t.Errorf("with %s: %v", theirs, err)
		}
		srv.View(func(v *zkmem.View) {
			if names := v.Children("/job"); !slices.Equal(names, []string{theirs}) {
				t.Errorf("it made %q", names)
			}
		})
	}
}
