package why

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/why/txnlog"
	"github.com/incumbent-go/incumbent/test/kit/effects"
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
	c.add("latch-1", events.Event{Kind: events.ReplyChildren, Path: "/l", At: 110, Session: 1, Children: []string{own}},
		"leading", "leading")
	return c
}

// creates has the log's client create its node.
func (c *crafted) creates(zxid int64) *crafted {
	c.add("latch-1", events.Event{Kind: events.ReplyCreate, Path: c.own, At: 105, SentAt: 101, Zxid: zxid, Session: 1},
		"leading", "leading")
	return c
}

// Logs that have nothing in common may be of different ensembles, and those with the same zxid for different writes
// are.
func TestLogsOfDifferentEnsembles(t *testing.T) {
	const sure, doubt = "the logs are of different ensembles, where zxid 0x32 is of different writes: a (zk1:1) · b " +
		"(zk9:1); explain those of each ensemble alone",
		"these logs have no server and no node in common: a (zk1:1) · b (zk9:1)"
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
		if c.why != "" && (r.Verdict != CannotTell || r.Why != c.why) ||
			c.why == "" && strings.Contains(text, "are of different ensembles, where") {
			t.Errorf("%s: %s: %s", what, r.Verdict, r.Why)
		}
		if strings.Contains(text, "These logs have no server") != (c.doubt != "") ||
			!strings.Contains(text, strings.TrimPrefix(c.doubt, "these")) {
			t.Errorf("%s:\n%s", what, text)
		}
		Redact(logs, nil)
		if hidden := strings.Join(Explain(logs, nil, Options{}).Lines(false), "\n"); strings.Contains(hidden, "zk") {
			t.Errorf("%s: a server's name is in\n%s", what, hidden)
		}
	}
}

// deletes has the log's client delete its node.
func (c *crafted) deletes(sent, zxid int64) *crafted {
	c.add("latch-1", events.Event{Kind: events.CommandClose, At: sent, Session: 1}, "leading", "leaving",
		"#9! delete "+c.own)
	c.add("latch-1", events.Event{Kind: events.ReplyDelete, At: sent + 10, SentAt: sent, Request: 9, Zxid: zxid,
		Path: c.own, Session: 1}, "leaving", "closed")
	return c
}

// Logs of two ensembles whose servers have the same names are those of containers that were made again: what
// contradicts is said in one sentence, nothing is compared, and nothing is proven. What one ensemble may have is no
// sign.
func TestEnsemblesWithTheSameNames(t *testing.T) {
	const ending = "; they are of different ensembles whose servers have the same names, or the ensemble's data were " +
		"replaced in between; explain those of each ensemble alone"
	named := func(number int, token, from int64) *crafted {
		c := newCrafted(token, from)
		was := c.own
		c.own = fmt.Sprintf("/l/_c_00000000-0000-0000-0000-0000000000%02d-latch-%010d", token, number)
		for i, e := range c.records[1].Effects {
			c.records[1].Effects[i] = effects.Of(strings.Replace(e.String(), was, c.own, 1))[0]
		}
		return c
	}
	session := func(c *crafted, id int64) *crafted {
		c.records[0].Event.SessionID = id
		return c
	}
	for what, c := range map[string]struct {
		one, two *crafted
		zxid     int64 // of a write of the second
		sign     string
	}{
		"one zxid": {newCrafted(1, 100).creates(30), newCrafted(2, 2100).creates(30), 60,
			"zxid 0x1e is of a write of each"},
		"one session": {session(newCrafted(1, 100).creates(30), 7), session(newCrafted(2, 2100).creates(40), 7), 60,
			"session 0x7 is of each"},
		"one number while the first was there": {named(5, 1, 100).creates(30).deletes(300, 55),
			named(5, 2, 2100).creates(40), 60, "/l gave number 5 to b while node 5 of a was there"},
		"a lower number while the first was there": {named(5, 1, 100).creates(30).deletes(300, 55),
			named(4, 2, 2100).creates(40), 60, "/l gave number 4 to b while node 5 of a was there"},
		"one number, and the directory may have been created again": {named(5, 1, 100).creates(30).deletes(300, 35),
			named(5, 2, 2100).creates(40), 60, ""},
		"one zxid, and the node of the other was seen": {newCrafted(1, 100).creates(30),
			newCrafted(2, 2100).creates(30).sees(newCrafted(1, 100)), 60, ""},
		"another zxid": {newCrafted(1, 100).creates(30), newCrafted(2, 2100).creates(40), 60, ""},
	} {
		r := Explain([]*Log{c.one.of(t, "a", "zk:1", 58), c.two.of(t, "b", "zk:1", c.zxid)}, nil, Options{})
		text := strings.Join(r.Lines(true), "\n")
		if is := strings.Contains(text, "contradict each other: "); is != (c.sign != "") {
			t.Errorf("%s:\n%s", what, text)
			continue
		}
		if c.sign == "" {
			continue
		}
		if want := "a and b contradict each other: " + c.sign + ending; r.Verdict != CannotTell || r.Why != want {
			t.Errorf("%s: %s: %s, want %s", what, r.Verdict, r.Why, want)
		}
		if strings.Contains(text, "right to believe for") || strings.Contains(text, "gone") {
			t.Errorf("%s: what is of different ensembles is compared:\n%s", what, text)
		}
	}
}

// Transaction logs of another ensemble are left out, and that is said. What they have of others is no contradiction.
func TestTransactionLogsOfAnotherEnsemble(t *testing.T) {
	one := newCrafted(1, 100).creates(30)
	own := txnlog.Txn{Zxid: 30, Session: 101, Cxid: 1, Kind: txnlog.Create,
		Changes: []txnlog.Change{{Kind: txnlog.Create, Path: one.own, Ephemeral: true}}}
	anothers := own
	anothers.Session = 9
	gone := txnlog.Txn{Zxid: 70, Session: 9, Kind: txnlog.Delete, Changes: []txnlog.Change{{Kind: txnlog.Delete,
		Path: one.own}}}
	for what, c := range map[string]struct {
		txns []txnlog.Txn
		left bool
	}{
		"its own":    {[]txnlog.Txn{own, gone}, false},
		"another's":  {[]txnlog.Txn{anothers, gone}, true},
		"later ones": {[]txnlog.Txn{gone}, false},
	} {
		c.txns = slices.Clone(c.txns)
		r := Explain([]*Log{newCrafted(1, 100).creates(30).of(t, "a", "zk:1", 50)}, c.txns, Options{})
		text := strings.Join(r.Lines(true), "\n")
		const said = "the transaction logs are of another ensemble than a's log: zxid 0x1e is of session 0x9 there, " +
			"and of session 0x65 in a; they were left out: give those of this ensemble to --txnlog"
		if is := r.Verdict == CannotTell && r.Why == said; is != c.left {
			t.Errorf("%s: %s: %s", what, r.Verdict, r.Why)
		}
		if c.left && strings.Contains(text, "zxid 0x46") {
			t.Errorf("%s: a transaction of another ensemble is shown:\n%s", what, text)
		}
	}
}
