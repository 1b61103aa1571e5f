package why

import (
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// of reads a log of a client of these servers, which led, and whose write has a zxid.
func (c *crafted) of(t *testing.T, name, servers string, zxid int64) *Log {
	t.Helper()
	c.write(zxid, 150, 200)
	l, err := Read(name, events.Header{Servers: strings.Split(servers, ",")}, &each{c.records})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// sees has the log's client list a node of another log.
func (c *crafted) sees(o *crafted) *crafted {
	own := strings.TrimPrefix(o.own, "/l/")
	c.add("latch-1", events.Event{Kind: events.ReplyChildren, Path: "/l", At: 110, Session: 1, Children: []string{own}}, "leading", "leading")
	return c
}

// creates has the log's client create its node.
func (c *crafted) creates(zxid int64) *crafted {
	c.add("latch-1", events.Event{Kind: events.ReplyCreate, Path: c.own, At: 105, SentAt: 101, Zxid: zxid, Session: 1}, "leading", "leading")
	return c
}

// Logs that have nothing in common may be of different ensembles, and those with the same zxid for different writes are.
func TestLogsOfDifferentEnsembles(t *testing.T) {
	const sure, doubt = "the logs are of different ensembles, where zxid 0x32 is of different writes: a (zk1:1) · b (zk9:1); explain those of each ensemble alone", "these logs have no server and no node in common: a (zk1:1) · b (zk9:1)"
	for what, c := range map[string]struct {
		servers string
		zxid    int64
		seen    bool
		why     string // of the verdict
		doubt   string
	}{
		"one zxid, other servers":             {"zk9:1", 50, false, sure, ""},
		"other zxids, other servers":          {"zk9:1", 60, false, "", doubt},
		"other zxids, a server in common":     {"zk9:1,zk2:1", 60, false, "", ""},
		"other servers, and a node is listed": {"zk9:1", 60, true, "", ""},
		"one zxid, and a node is listed":      {"zk9:1", 50, true, "", ""},
	} {
		one, two := newCrafted(1, 100).creates(30), newCrafted(2, 2100)
		if c.seen {
			two.sees(one)
		}
		logs := []*Log{one.of(t, "a", "zk1:1,zk2:1", 50), two.of(t, "b", c.servers, c.zxid)}
		r := Explain(logs, nil, Options{})
		text := strings.Join(r.Lines(false), "\n")
		if c.why != "" && (r.Verdict != CannotTell || r.Why != c.why) || c.why == "" && strings.Contains(text, "are of different ensembles, where") {
			t.Errorf("%s: %s: %s", what, r.Verdict, r.Why)
		}
		if strings.Contains(text, "These logs have no server") != (c.doubt != "") || !strings.Contains(text, strings.TrimPrefix(c.doubt, "these")) {
			t.Errorf("%s:\n%s", what, text)
		}
		Redact(logs, nil)
		if hidden := strings.Join(Explain(logs, nil, Options{}).Lines(false), "\n"); strings.Contains(hidden, "zk") {
			t.Errorf("%s: a server's name is in\n%s", what, hidden)
		}
	}
}

// Two nodes of one line with the same zxid, from two logs: the data were replaced, or these are two ensembles whose servers
// have the same names.
func TestEnsemblesWithTheSameNames(t *testing.T) {
	one, two := newCrafted(1, 100).creates(30), newCrafted(2, 2100).creates(30)
	r := Explain([]*Log{one.of(t, "a", "zk:1", 50), two.of(t, "b", "zk:1", 60)}, nil, Options{})
	if text := strings.Join(r.Lines(false), "\n"); !strings.Contains(text, "or these logs are of several ensembles") {
		t.Error(text)
	}
}
