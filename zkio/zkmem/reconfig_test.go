package zkmem

import (
	"errors"
	"strings"
	"testing"
	"time"
)

const superUser = "super:secret"

// reconfigurable returns an ensemble that takes reconfig from its super user, and a client with that identity.
func reconfigurable(t *testing.T) (e *Ensemble, c *rawClient) {
	t.Helper()
	e, _, followers := three(t, Options{Reconfig: true, SuperDigest: DigestAuth(superUser).ID})
	c = newSession(t, followers[0], time.Minute)
	if code, _, err := c.ask(OpAuth, func(e *encoder) { e.int32(0); e.text("digest"); e.text(superUser) }); code !=
		OK || err != nil {
		t.Fatal(code, err)
	}
	return e, c
}

// reconfig returns the body of one. A "-" is null.
func reconfig(joining, leaving, members string, version int64) func(*encoder) {
	return func(e *encoder) {
		for _, text := range []string{joining, leaving, members} {
			if text == "-" {
				e.int32(-1)
			} else {
				e.text(text)
			}
		}
		e.int64(version)
	}
}

// config reads the configuration at the client's server.
func (c *rawClient) config(watch bool) (text string, version int32) {
	c.t.Helper()
	code, d, err := c.ask(OpGetData, read(configNode, watch))
	if code != OK || err != nil {
		c.t.Fatal(code, err)
	}
	return configOf(d)
}

func configOf(d *decoder) (text string, version int32) {
	text = string(d.bytes())
	d.take(4 * 8) // czxid, mzxid, ctime, mtime
	return text, d.int32()
}

func TestTheConfigurationIsANode(t *testing.T) {
	e, c := reconfigurable(t)
	text, version := c.config(false)
	if text != e.Config() || version != -1 || !strings.HasSuffix(text, "\nversion=100000000") ||
		!strings.HasPrefix(text, "server.1=127.0.0.1:2888:3888:participant\n") {
		t.Errorf("%q, version %d", text, version)
	}
}

// A reconfig changes the node, fires its watches, and answers with the new configuration.
func TestAReconfigIsWritten(t *testing.T) {
	e, c := reconfigurable(t)
	watcher := newSession(t, e.Leader(), time.Minute)
	watcher.config(true)
	code, d, err := c.ask(OpReconfig, reconfig("-", "1", "-", -1))
	if code != OK || err != nil {
		t.Fatal(code, err)
	}
	text, version := configOf(d)
	if now, _ := c.config(false); text != now || version != -1 || strings.Contains(text, "server.1=") ||
		strings.HasSuffix(text, "=100000000") {
		t.Errorf("%q, version %d; the node has %q", text, version, now)
	}
	if d := watcher.answers(-1, OK); EventType(d.int32()) != NodeDataChanged {
		t.Error("another event")
	}
	// Server 1 follows without a vote: with one more down there is no quorum.
	mode(t, e.Servers()[0], "follower")
	c.mustCreate("/n", Persistent)
	e.Servers()[1].Stop()
	if e.Leader() != nil {
		t.Error("one of two leads")
	}
	do(t, e.Servers()[1].Restart())
	c = c.again(e.Servers()[1])
	if code, _, err := c.ask(OpReconfig, reconfig("-", "3", "-", -1)); code != BadArguments || err != nil {
		t.Errorf("one server is left: %v %v", code, err)
	}
}

// A reconfig is refused as by ZooKeeper 3.8, in the order of its checks.
func TestAReconfigIsRefused(t *testing.T) {
	e, c := reconfigurable(t)
	elsewhere := func(id string) string { return "server." + id + "=10.0.0." + id + ":2888:3888:participant;2181" }
	for _, test := range []struct {
		name, joining, leaving, members string
		version                         int64
		want                            Code
	}{
		{"of another version", "-", "1", "-", 5, BadVersion},
		{"a word for a number", "-", "one", "-", -1, MarshallingError},
		{"without a client's port", "server.4=10.0.0.4:2888:3888", "-", "-", -1, BadArguments},
		{"without ports", "server.4=10.0.0.4;2181", "-", "-", -1, BadArguments},
		{"an unknown role", "server.4=10.0.0.4:2888:3888:king;2181", "-", "-", -1, BadArguments},
		{"no equals sign", "server.4", "-", "-", -1, BadArguments},
		{"no number", "server.x=10.0.0.4:2888:3888;2181", "-", "-", -1, MarshallingError},
		{"an address twice", elsewhere("4") + ",server.5=10.0.0.4:2888:3999;2999", "-", "-", -1, BadArguments},
		{"too few servers", "-", "2,3", "-", -1, BadArguments},
		{"nothing of it", "-", "-", "", -1, BadArguments},
		{"an unknown key", "-", "-", "colour=red", -1, BadArguments},
		{"observers alone", "-", "-", "server.1=10.0.0.1:2888:3888:observer;2181", -1, MarshallingError},
		{"servers that are not there", strings.Join([]string{elsewhere("4"), elsewhere("5"), elsewhere("6")}, ","), "-",
			"-", -1, NewConfigNoQuorum},
		{"other servers", "-", "-", elsewhere("7") + "\n" + elsewhere("8") + "," + elsewhere("9"), -1,
			NewConfigNoQuorum},
	} {
		before, _ := c.config(false)
		if code, _, err := c.ask(OpReconfig, reconfig(test.joining, test.leaving, test.members, test.version)); code !=
			test.want || err != nil {
			t.Errorf("%s: %v %v, want %v", test.name, code, err, test.want)
		}
		if after, _ := c.config(false); after != before {
			t.Errorf("%s: the configuration has changed: %q", test.name, after)
		}
	}
	stranger := newSession(t, e.Leader(), time.Minute)
	if code, _, err := stranger.ask(OpReconfig, reconfig("-", "1", "-", -1)); code != NoAuth || err != nil {
		t.Errorf("without credentials: %v %v", code, err)
	}
	_, leader, _ := three(t, Options{})
	if code, _, err := newSession(t, leader, time.Minute).ask(OpReconfig, reconfig("-", "1", "-", -1)); code !=
		ReconfigDisabled || err != nil {
		t.Errorf("without Options.Reconfig: %v %v", code, err)
	}
	alone := New(Options{Reconfig: true})
	defer alone.Close()
	if code, _, err := newSession(t, alone, time.Minute).ask(OpReconfig, reconfig("-", "1", "-", -1)); code !=
		Unimplemented || err != nil {
		t.Errorf("a standalone server: %v %v", code, err)
	}
}

// While a reconfig waits for a quorum, another one is refused.
func TestOneReconfigAtATime(t *testing.T) {
	e, _ := reconfigurable(t)
	c := newSession(t, e.Leader(), time.Minute)
	c.ask(OpAuth, func(e *encoder) { e.int32(0); e.text("digest"); e.text(superUser) })
	for _, s := range e.Followers() {
		do(t, e.Freeze(s))
	}
	first := c.send(OpReconfig, reconfig("-", "1", "-", -1))
	second := c.send(OpReconfig, reconfig("-", "2", "-", -1))
	served(t, e.Leader(), OpReconfig, 2)
	e.Heal()
	c.answers(first, OK)
	c.answers(second, ReconfigInProgress)
}

// Servers that the configuration names and that do not run count, too.
func TestServersThatAreElsewhereHaveVotes(t *testing.T) {
	e, c := reconfigurable(t)
	members := e.Config()
	members = members[:strings.LastIndex(members, "\n")] + "\nserver.4=10.0.0.4:2888:3888;2181\n" +
		"server.9=10.0.0.9:2888:3888:observer;2181"
	if code, _, err := c.ask(OpReconfig, reconfig("-", "-", members, -1)); code != OK || err != nil {
		t.Fatal(code, err)
	}
	if text, _ := c.config(false); !strings.Contains(text,
		"server.4=10.0.0.4:2888:3888:participant;0.0.0.0:2181\nserver.9=10.0.0.9:2888:3888:observer;0.0.0.0:2181\n") {
		t.Errorf("%q", text)
	}
	e.Followers()[0].Stop()
	if e.Leader() != nil {
		t.Error("two of four lead")
	}
}

// A leader that is removed leads no more, and follows without a vote.
func TestALeaderThatIsRemoved(t *testing.T) {
	e, leader, _ := three(t, Options{})
	c := newSession(t, leader, time.Minute)
	do(t, e.Remove(leader))
	mode(t, leader, "follower")
	c.gone()
	if e.Leader() == leader || e.Leader() == nil {
		t.Fatal("nobody else leads")
	}
	c = c.again(leader)
	c.mustCreate("/n", Persistent)
	do(t, e.Add(leader))
	if text, _ := c.config(false); text != e.Config() || strings.Count(text, "server.") != 3 {
		t.Errorf("%q", text)
	}
	e.Leader().Stop()
	if e.Leader() != leader {
		t.Error("the one that was added back, which has the highest number, does not lead")
	}
	if err := e.Remove(New(Options{})); !errors.Is(err, errStranger) {
		t.Errorf("a stranger: %v", err)
	}
	same(t, e)
}

// An observer follows and has no vote.
func TestAnObserver(t *testing.T) {
	e, c := reconfigurable(t)
	first := "server.1=127.0.0.1:2888:3888:observer;127.0.0.1:2999"
	if code, _, err := c.ask(OpReconfig, reconfig(first, "-", "-", -1)); code != OK || err != nil {
		t.Fatal(code, err)
	}
	mode(t, e.Servers()[0], "observer")
	newSession(t, e.Servers()[0], time.Minute).mustCreate("/n", Persistent)
	if got := line(word(t, e.Leader(), "mntr"), "zk_synced_observers"); got != "zk_synced_observers\t1" {
		t.Errorf("mntr: %q", got)
	}
	e.Servers()[1].Stop()
	if e.Leader() != nil {
		t.Error("an observer has a vote")
	}
}
