//go:build unix

package main

import (
	"strings"
	"syscall"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/instances"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func TestMain(m *testing.M) { instances.Main(m, main) }

const members = "/jobs/shards/members"

// begin starts an instance, and returns when it is one of so many members.
func begin(t *testing.T, srv *zkmem.Server, id string, of int) *instances.Instance {
	t.Helper()
	i := instances.Start(t, "-servers", srv.Addr(), "-id", id)
	instances.InLine(t, srv, members, of)
	return i
}

// expire ends the session of an instance, as the ensemble does when it has not heard of it for long enough.
func expire(t *testing.T, srv *zkmem.Server, id string) {
	t.Helper()
	var session int64
	srv.View(func(v *zkmem.View) {
		for _, name := range v.Children(members) {
			data, stat, err := v.Get(members + "/" + name)
			if err == nil && strings.Contains(string(data), `"id":"`+id+`"`) {
				session = stat.EphemeralOwner
			}
		}
	})
	if !srv.ExpireSession(session) {
		t.Fatalf("%s is no member", id)
	}
}

// Shards of a program that is killed, that is stopped for longer than its session lasts, or that SIGTERM ends are the
// other's. The one that was stopped notices it, and is a member again.
func TestProcessesThatFail(t *testing.T) {
	const ours = " is ours, under token "
	srv := zkmem.Start(t)
	a := begin(t, srv, "a", 1)
	a.SaysTimes(t, ours, shards)
	b := begin(t, srv, "b", 2)

	a.Kill()
	expire(t, srv, "a")
	b.SaysTimes(t, ours, shards)
	a = begin(t, srv, "a", 2)

	b.Signal(t, syscall.SIGSTOP)
	expire(t, srv, "b")
	a.SaysTimes(t, ours, shards)
	b.Signal(t, syscall.SIGCONT)
	b.SaysTimes(t, " is ours no longer: ", shards)
	instances.InLine(t, srv, members, 2)

	a.Stop(t)
	b.SaysTimes(t, ours, 2*shards)
	b.Stop(t)
	instances.InLine(t, srv, members, 0)
}
