package doctor_test

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/internal/doctor"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// closed is the access list of ann, and bobs that of bob.
var closed, bobs, open = zk.DigestACL(zk.PermAll, "ann", "pw"), zk.DigestACL(zk.PermAll, "bob", "pw"),
	zk.WorldACL(zk.PermAll)

// plant creates a node.
func plant(t *testing.T, conn *zk.Conn, path string, acl []zk.ACL, flags ...int32) {
	t.Helper()
	flag := int32(0)
	for _, f := range flags {
		flag |= f
	}
	if _, err := conn.Create(path, []byte("host1"), flag, acl); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// line is a line of ann's on a real server, with a condition.
type line struct {
	*testing.T
	conn, other *zk.Conn
	path        string
	settings    *doctor.Settings
}

// place creates a node with this number in the line.
func (l line) place(number int, flags ...int32) {
	plant(l.T, l.conn, fmt.Sprintf("%s/latch-%010d", l.path, number), closed, flags...)
}

// conditions are planted alone, each in a line of its own. In what is wanted, PATH is the line's.
var conditions = []struct {
	name  string
	plant func(line)
	want  []string
}{
	{"healthy", func(l line) { l.place(0, zk.FlagEphemeral); l.place(1, zk.FlagEphemeral) }, nil},
	{"foreign", func(l line) { plant(l.T, l.conn, l.path+"/notes", closed) }, []string{"note foreign-children PATH"}},
	{"forged", func(l line) { l.place(7, zk.FlagEphemeral); l.place(3, zk.FlagEphemeral) },
		[]string{"unfit forged-number PATH"}},
	{"equal", func(l line) {
		l.place(7, zk.FlagEphemeral)
		plant(l.T, l.conn, l.path+"/x-latch-0000000007", closed, zk.FlagEphemeral)
	}, []string{"unfit equal-numbers PATH"}},
	{"blocked", func(l line) { l.place(0); l.place(1, zk.FlagEphemeral) },
		[]string{"unfit blocked PATH/latch-0000000000"}},
	{"persistent", func(l line) { l.place(0, zk.FlagEphemeral); l.place(1) },
		[]string{"warning persistent-node PATH/latch-0000000001"}},
	{"ends", func(l line) { l.place(2_100_000_000, zk.FlagEphemeral) }, []string{"warning counter-ends PATH"}},
	{"unreadable", func(l line) { plant(l.T, l.conn, l.path+"/latch-0000000000", bobs, zk.FlagEphemeral) },
		[]string{"warning node-unreadable PATH/latch-0000000000"}},
	{"shared", func(l line) {
		l.place(0, zk.FlagEphemeral)
		plant(l.T, l.other, l.path+"/latch-0000000001", closed, zk.FlagEphemeral)
	}, []string{"warning shared-id PATH"}},
	{"old", func(l line) { l.place(0, zk.FlagEphemeral); l.settings.LogsBegin = time.Now().Add(time.Hour) },
		[]string{"warning older-than-logs PATH/latch-0000000000"}},
	{"large", func(l line) { l.place(0, zk.FlagEphemeral); l.settings.MaxAnswer = 50 },
		[]string{"unfit large-line PATH"}},
	{"stranger", func(l line) { l.settings.Auth = nil }, []string{"unfit line-unreadable PATH"}},
	{"shown", func(l line) { l.list(append(zk.WorldACL(zk.PermRead), bobs...)) },
		[]string{"unfit may-not-create PATH"}},
	{"kept", func(l line) { l.list(zk.DigestACL(zk.PermAll&^zk.PermDelete, "ann", "pw")) },
		[]string{"warning may-not-delete PATH"}},
	{"open", func(l line) { l.list(open) }, []string{"warning open-line PATH"}},
	{"missing", func(l line) { l.settings.Lines = []string{"/nowhere/line"} }, []string{"warning open-parent /"}},
	{"quota", func(l line) {
		at := "/zookeeper/quota" + l.path
		plant(l.T, l.conn, at, open)
		for name, data := range map[string]string{"limits": "count=1,bytes=-1", "stats": "count=0,bytes=0"} {
			if _, err := l.conn.Create(at+"/zookeeper_"+name, []byte(data), 0, open); err != nil {
				l.Fatal(err)
			}
		}
		l.place(0, zk.FlagEphemeral)
	}, []string{"warning quota PATH"}},
	{"chroot", func(l line) { l.settings.Chroot = "/nowhere" },
		[]string{"unfit no-chroot /nowhere", "warning open-parent / (above the chroot)"}},
	{"twice", func(l line) {
		_, port, _ := net.SplitHostPort(l.settings.Servers[0])
		l.settings.Servers = append(l.settings.Servers, "localhost:"+port)
		l.settings.LookUp = func(context.Context, string) ([]string, error) { return []string{"127.0.0.1"}, nil }
	}, []string{"warning same-address localhost:PORT"}},
	{"names", func(l line) {
		_, port, _ := net.SplitHostPort(l.settings.Servers[0])
		next := byte('0')
		l.settings.Servers = []string{"localhost:" + port}
		l.settings.LookUp = func(context.Context, string) ([]string, error) {
			next++
			return []string{"127.0.0." + string(next)}, nil
		}
	}, []string{"warning resolves-differently localhost:PORT"}},
	{"short", func(l line) { l.settings.Timeout, l.settings.Tick = 4*time.Second, 8*time.Second },
		[]string{"unfit timeout-too-short ensemble"}},
	{"raised", func(l line) { l.settings.Timeout, l.settings.Tick = time.Second, 100*time.Millisecond },
		[]string{"unfit tick-too-long SERVER", "warning timeout-raised SERVER"}},
	{"lowered", func(l line) { l.settings.Timeout = time.Minute }, []string{"warning timeout-lowered SERVER"}},
}

// list gives the line another access list.
func (l line) list(acl []zk.ACL) {
	if _, err := l.conn.SetACL(l.path, acl, -1); err != nil {
		l.Fatal(err)
	}
}

// A server of the newest release is healthy, and each condition of its lines, and of who asks, is found.
func TestConditionsOnOneServer(t *testing.T) {
	srv := realzk.Start(t, realzk.Options{Release: realzk.Newest})
	s := settings(srv.Addr())
	s.Deep = true
	if r := examine(t, s); len(r.Findings) > 0 || r.Verdict != doctor.Fit || len(r.NotAsked) > 0 {
		t.Errorf("found %v, not asked %v", r.Findings, r.NotAsked)
	}
	conn, other := connect(t, srv.Addr()), connect(t, srv.Addr())
	_, port, _ := net.SplitHostPort(srv.Addr())
	for _, c := range conditions {
		t.Run(c.name, func(t *testing.T) {
			s := settings(srv.Addr())
			l := line{T: t, conn: conn, other: other, path: "/" + c.name, settings: &s}
			s.Auth, s.Lines = as("ann"), []string{l.path}
			plant(t, conn, l.path, closed)
			c.plant(l)
			examine(t, s, named(c.want, "PATH", l.path, "PORT", port, "SERVER", srv.Addr())...)
		})
	}
	t.Run("a bad server", func(t *testing.T) { testABadServer(t, srv.Addr()) })
}
