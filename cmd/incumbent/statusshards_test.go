//go:build unix

package main_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

const shardsPath = "/ns/shards"

// runShards runs a member of this process, until the test ends. Its work on a
// shard returns only when returns is closed.
func runShards(t *testing.T, srv *zkmem.Server, id string, n int, returns <-chan struct{}) {
	t.Helper()
	c, err := incumbent.Open(within(t), incumbent.Config{Servers: srv.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	options := incumbent.ShardsOptions{ID: id, Settle: time.Millisecond}
	group, err := c.Shards(shardsPath, n, options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(within(t))
	ended := make(chan error, 1)
	go func() {
		ended <- group.Run(ctx, func(s *incumbent.Shard) error {
			<-s.Context().Done()
			<-returns
			return nil
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := c.Close(within(t)); err != nil {
			t.Error(err)
		}
	})
}

// group waits until the assignment and the members' nodes are as a test wants them.
func group(t *testing.T, srv *zkmem.Server, is func(p machines.ShardPlan, owns map[string]int) bool) {
	t.Helper()
	err := srv.WaitFor(within(t), func(v *zkmem.View) bool {
		data, _, err := v.Get(machines.ShardAssignment(shardsPath))
		if err != nil {
			return false
		}
		plan, err := machines.ParseShardPlan(data)
		if err != nil {
			return false
		}
		owns := map[string]int{}
		for _, name := range v.Children(machines.ShardMembers(shardsPath)) {
			data, _, _ := v.Get(machines.ShardMembers(shardsPath) + "/" + name)
			if m, err := machines.ParseShardMember(data); err == nil {
				owns[m.ID] += len(m.Owns)
			}
		}
		return is(plan, owns)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// putMember creates the node of a member that nobody runs.
func putMember(t *testing.T, srv *zkmem.Server, number int, data string) string {
	t.Helper()
	name := fmt.Sprintf("member-00000000-0000-4000-8000-%012d", number)
	put(t, srv, machines.ShardMembers(shardsPath)+"/"+name, data)
	return name
}

// What runs is shown: who owns what, who writes the assignment, and what waits for whose work.
func TestShardsOfMembersThatRun(t *testing.T) {
	srv := zkmem.Start(t)
	programtest.Contains(t, start(t, srv, "shards", shardsPath).Exits(0).Out.String(), "there is no such directory")
	if o := start(t, srv, "shards", shardsPath, "--json").Exits(0).Objects()[0]; o["missing"] != true {
		t.Error(o)
	}
	returns := make(chan struct{})
	runShards(t, srv, "a", 6, returns)
	group(t, srv, func(_ machines.ShardPlan, owns map[string]int) bool { return owns["a"] == 6 })
	out := start(t, srv, "shards", shardsPath).Exits(0).Out.String()
	programtest.Contains(t, out, "/ns/shards: 6 shards, 1 member; the assignment is from ", `"a" writes the assignment`,
		"\n     0-5\n")
	if strings.Contains(out, "moving") || !strings.HasPrefix(shardRow(out, "a"), `"a" 6 1 6 `) {
		t.Error(out)
	}
	runShards(t, srv, "b", 6, returns)
	group(t, srv, func(p machines.ShardPlan, _ map[string]int) bool { return len(p.Leaving) == 1 && len(p.IDs) == 2 })

	out = start(t, srv, "shards", shardsPath).Exits(0).Out.String()
	programtest.Contains(t, out, `shards moving to "b" when the work of "a" on them has returned:`,
		"2 in line for that")
	if !strings.HasPrefix(shardRow(out, "b"), `"b" 0 1 6 `) {
		t.Error(out)
	}
	o := start(t, srv, "shards", shardsPath, "--json").Exits(0).Objects()[0]
	moving := 0
	for shard, one := range o["owners"].([]any) {
		s := one.(map[string]any)
		if s["state"] == "moving" && s["assigned"] == "b" {
			moving++
		}
		if s["owner"] != "a" || s["shard"] != float64(shard) {
			t.Error(s)
		}
	}
	if moving < 2 || o["shards"] != 6.0 || len(o["members"].([]any)) != 2 ||
		o["writer"].(map[string]any)["id"] != "a" || len(o["writers"].([]any)) != 2 {
		t.Error(o)
	}
	programtest.Contains(t, start(t, srv, "status", shardsPath).Exits(0).Out.String(),
		"/ns/shards: a group of Shards, 2 members: see incumbent shards /ns/shards")
	close(returns)
	group(t, srv, func(p machines.ShardPlan, owns map[string]int) bool {
		return len(p.Leaving) == 0 && owns["a"]+owns["b"] == 6 && owns["b"] > 0
	})
	if out := start(t, srv, "shards", shardsPath).Exits(0).Out.String(); strings.Contains(out, "moving") {
		t.Error(out)
	}
}

// shardRow returns the words of the line about a member.
func shardRow(out, id string) string {
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); len(fields) > 3 && fields[0] == `"`+id+`"` && fields[1] != "writes" {
			return strings.Join(fields, " ")
		}
	}
	return ""
}

// Each thing that is wrong with a group is shown, nothing that others wrote comes out as it is, and no row is too wide.
func TestShardsOfAGroupThatIsNotWhole(t *testing.T) {
	srv := zkmem.Start(t)
	h := strings.NewReplacer("\x1b", `\u001b`, "\a", `\u0007`, "\n", `\n`).Replace(hostile)
	every := make([]string, 300)
	for i := range every {
		every[i] = fmt.Sprint(2 * i)
	}
	a := putMember(t, srv, 1, `{"id":"`+h+`","weight":2,"maxOwned":400,"owns":"`+strings.Join(every, ",")+`"}`)
	b := putMember(t, srv, 2, `{"id":"sick","weight":1,"maxOwned":9,"unhealthy":true,"owns":"0,1,3"}`)
	c := putMember(t, srv, 3, "{"+hostile)
	d := putMember(t, srv, 4, `{"id":"idle","weight":1,"maxOwned":9,"owns":"999"}`)
	putMember(t, srv, 5, `{"id":"idle","weight":1,"maxOwned":9,"owns":""}`)
	put(t, srv, shardsPath+"/members/alien", "")
	put(t, srv, shardsPath+"/members/member-"+strings.Repeat("\u202e", 12), "[]") // the name of a member, as it seems
	put(t, srv, shardsPath+"/other", "")
	out := start(t, srv, "shards", shardsPath).Exits(0).Out.String()
	programtest.Contains(t, out, "there is no assignment", "nobody writes the assignment", "6 members")

	put(t, srv, machines.ShardAssignment(shardsPath), fmt.Sprintf(
		`{"shards":600,"owners":{%q:"0,2-4,6-8",%q:"1,5,11","gone":"9"},"leaving":{%q:"11"},`+
			`"ids":{"gone":"dead"}}`, a, d, c))
	out = start(t, srv, "shards", shardsPath).Exits(0).Out.String()
	programtest.Contains(t, out, "600 shards, 6 members", "and 2 children that belong to no group",
		"1 shard owned twice", `leaving "\x1b]0;owned\a\x1b[31m<b>red</"…; no other`,
		"without an owner: no member may take them",
		"UNHEALTHY, or it ends: it gets no shards", "node "+c+" is unreadable: ", "a newer member has the same id",
		"it is for more shards than the assignment", "PERSISTENT", "which is gone", "not claimed yet",
		"may be owned by the member of node "+c+", which cannot be read")
	if strings.ContainsAny(out, "\x1b\a\u202e") {
		t.Errorf("what others wrote came out as it is: %q", out)
	}
	for line := range strings.Lines(out) {
		if cells := strings.TrimLeft(line, " 0123456789,-\n"); cells == "" && len(line) > 81 {
			t.Errorf("%d columns: %s", len(line)-1, line)
		}
	}
	o := start(t, srv, "shards", shardsPath, "--json").Exits(0).Objects()[0]
	states := map[string]string{}
	for _, one := range o["owners"].([]any) {
		s := one.(map[string]any)
		states[fmt.Sprint(s["shard"])] = fmt.Sprint(s["state"], " ", s["ownerNode"], " ", s["assigned"])
	}
	for shard, want := range map[string]string{"0": "twice " + a + " " + hostile, "2": "owned " + a + " " + hostile,
		"3": "moving " + b + " " + hostile, "5": "claiming  idle",
		"13": "free  ", "7": "claiming  " + hostile, "9": "gone  dead",
		"10": "leaving " + a + " ", "11": "moving " + c + " idle"} {
		if got := states[shard]; got != want {
			t.Errorf("shard %s: %q, want %q", shard, got, want)
		}
	}
	if o["foreign"] != 2.0 || o["shards"] != 600.0 || len(o["members"].([]any)) != 6 || o["writer"] != nil {
		t.Error(o["foreign"], o["shards"], o["writer"])
	}

	if err := srv.Set(machines.ShardAssignment(shardsPath), []byte("{}")); err != nil {
		t.Fatal(err)
	}
	programtest.Contains(t, start(t, srv, "shards", shardsPath).Exits(0).Out.String(),
		"the assignment cannot be read, so nobody works: want from 1 to 4096 shards")
	secret := []zkmem.ACL{{Perms: zkmem.PermAll, Scheme: "digest", ID: "x:y"}}
	deny := func(path string) {
		_, err := srv.Do(zkmem.Op{Code: zkmem.OpSetACL, Path: path, ACL: secret, Version: zkmem.AnyVersion})
		if err != nil {
			t.Fatal(err)
		}
	}
	deny(machines.ShardMembers(shardsPath) + "/" + b)
	programtest.Contains(t, start(t, srv, "shards", shardsPath).Exits(0).Out.String(),
		"node "+b+" is unreadable: not authorised")
	deny(machines.ShardAssignment(shardsPath))
	start(t, srv, "shards", shardsPath).Exits(77)
}
