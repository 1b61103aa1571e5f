package zkmem

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// names fails if the configuration, or a member's node of it, names other addresses of clients. "" is none.
func names(t *testing.T, e *Ensemble, addrs ...string) {
	t.Helper()
	var want strings.Builder
	for i, addr := range addrs {
		fmt.Fprintf(&want, "server.%d=127.0.0.1:%d:%d:participant", i+1, 2888+i, 3888+i)
		if addr != "" {
			want.WriteString(";" + addr)
		}
		want.WriteString("\n")
	}
	text := e.Config()
	if got, _, _ := strings.Cut(text, "version="); got != want.String() {
		t.Errorf("the configuration has\n%s, want\n%s", got, want.String())
	}
	for _, s := range e.Servers() {
		s.View(func(v *View) {
			if data, _, err := v.Get(configNode); err != nil || string(data) != text {
				t.Errorf("a member has %q, %v, want %q", data, err, text)
			}
		})
	}
}

// The configuration names the addresses that are served, as they become known, and those that were served while a
// member is stopped. What listens nowhere or everywhere has none.
func TestTheConfigurationNamesWhatIsServed(t *testing.T) {
	e, _, _ := three(t, Options{})
	names(t, e, "", "", "")
	all := e.Servers()
	do(t, all[0].Listen("127.0.0.1:0"))
	do(t, all[1].Listen("0.0.0.0:0"))
	do(t, all[2].Listen("127.0.0.1:0"))
	do(t, all[2].Listen("127.0.0.1:0"))
	first, third := all[0].Addr(), all[2].Addr()
	names(t, e, first, "", third)
	all[0].Stop()
	names(t, e, first, "", third)
	do(t, all[0].Restart())
	names(t, e, first, "", third)
	if !strings.HasSuffix(e.Config(), "\nversion=100000000") {
		t.Error("the addresses that an ensemble starts with are a transaction:", e.Config())
	}
	do(t, e.Advertise(all[1], "zk2.example:2181"))
	names(t, e, first, "zk2.example:2181", third)
	do(t, e.Advertise(all[1], ""))
	names(t, e, first, "", third)
	started := StartEnsemble(t, 3)
	names(t, started, strings.Split(started.Addr(), ",")...)
}

// Of an ensemble that is in use, another address is a transaction: watches see it, and its version is a later one.
func TestAnotherAddressIsAReconfig(t *testing.T) {
	e, leader, followers := three(t, Options{})
	watcher := newSession(t, followers[0], time.Minute)
	before, _ := watcher.config(true)
	do(t, e.Advertise(leader, "127.0.0.1:1"))
	if d := watcher.answers(-1, OK); EventType(d.int32()) != NodeDataChanged {
		t.Error("another event")
	}
	after, _ := watcher.config(false)
	if !strings.HasSuffix(before, "=100000000") || !strings.HasSuffix(after, "=100000002") ||
		after != e.Config() || !strings.Contains(after, ";127.0.0.1:1\n") {
		t.Errorf("%q, and before %q", after, before)
	}
	same(t, e)
	do(t, e.Advertise(leader, "127.0.0.1:1"))
	if again := e.Config(); again != after {
		t.Errorf("the same address is a change: %q", again)
	}
}

// An address that comes while no server leads is named by the next leader.
func TestAnAddressWithoutALeader(t *testing.T) {
	e, leader, followers := three(t, Options{})
	newSession(t, leader, time.Minute)
	followers[0].Stop()
	leader.Stop()
	do(t, e.Advertise(followers[1], "127.0.0.1:7"))
	if strings.Contains(e.Config(), ":7\n") {
		t.Error("it is committed by nobody:", e.Config())
	}
	do(t, leader.Restart())
	if !strings.Contains(e.Config(), ":7\n") {
		t.Error("the next leader does not name it:", e.Config())
	}
	do(t, followers[0].Restart())
	same(t, e)
}

// What a client's reconfig says of a member's address stays until the member has another one.
func TestAReconfigKeepsItsAddresses(t *testing.T) {
	e, c := reconfigurable(t)
	const own = "server.1=10.0.0.1:2888:3888:participant;10.0.0.1:2181"
	if code, _, err := c.ask(OpReconfig, reconfig(own, "-", "-", -1)); code != OK || err != nil {
		t.Fatal(code, err)
	}
	do(t, e.Advertise(e.Servers()[1], "127.0.0.1:2"))
	if _, _, err := e.Depose(); err != nil {
		t.Fatal(err)
	}
	if text := e.Config(); !strings.Contains(text, own) || !strings.Contains(text, ";127.0.0.1:2\n") {
		t.Error(text)
	}
	do(t, e.Advertise(e.Servers()[0], "127.0.0.1:1"))
	if text := e.Config(); strings.Contains(text, "10.0.0.1:2181") ||
		!strings.Contains(text, "server.1=10.0.0.1:2888:3888:participant;127.0.0.1:1\n") {
		t.Error(text)
	}
}

func TestAddressesThatAreNone(t *testing.T) {
	e, leader, _ := three(t, Options{})
	for _, addr := range []string{"zk1", ":2181", "zk1:port", "zk1:65536", "zk1:1:2", "a;b:1", "a\nb:1"} {
		if err := e.Advertise(leader, addr); err == nil || !strings.Contains(err.Error(), "want host:port") {
			t.Errorf("%q: %v", addr, err)
		}
	}
	if err := e.Advertise(New(Options{}), "zk1:2181"); !errors.Is(err, errStranger) {
		t.Error(err)
	}
}
