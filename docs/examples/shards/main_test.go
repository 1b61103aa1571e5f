package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

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

// process is one instance in a test: it dies when its sessions expire.
type process struct {
	conn   *zk.Conn
	client *incumbent.Client
	end    func()
}

func begin(t *testing.T, ctx context.Context, srv *zkmem.Server, id string) *process {
	t.Helper()
	conn, _, err := zk.Connect([]string{srv.Addr()}, 15*time.Second, zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	client, err := incumbent.Open(ctx, incumbent.Config{Servers: srv.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	one := &instance{job: "/job", id: id, shards: 5, conn: conn, work: func([]int, int32) {}}
	go func() {
		defer close(ended)
		_ = one.run(ctx, client)
	}()
	p := &process{conn: conn, client: client}
	p.end = func() {
		cancel()
		<-ended
		conn.Close()
		_ = client.Close(context.WithoutCancel(ctx))
	}
	t.Cleanup(p.end)
	return p
}

func TestTheLeaderDealsAndHandsOn(t *testing.T) {
	srv := zkmem.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dealt := func(instances int) (now deal) {
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
