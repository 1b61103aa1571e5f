package why

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// jobLog is the log of an instance of the job /ns/job, which leads from 100 on, and its machines.
func jobLog(who string, leads bool) *crafted {
	c := &crafted{own: "/ns/job/leader/election/instance"}
	c.add(events.SessionMachine, events.Event{Kind: events.ConnectionAttached, At: 80, Session: 1,
		SessionID: 100 + int64(who[0]), Timeout: 4000 * ms}, "connecting", "connected")
	c.add("jobelection-1", events.Event{Kind: events.CommandOpen, Recipe: "jobelection", Path: "/ns/job", At: 81,
		Data: []byte(who)}, "", "latent")
	c.add("jobdealer-jobelection-1", events.Event{Kind: events.CommandOpen, Recipe: "jobdealer", Path: "/ns/job",
		At: 82, Options: map[string]string{"opener": "jobelection-1", "instance": who}}, "", "latent")
	c.add("jobworker-1", events.Event{Kind: events.CommandOpen, Recipe: "jobworker", Path: "/ns/job", At: 83,
		Options: map[string]string{"instance": who}}, "", "latent")
	if leads {
		c.add("jobelection-1", events.Event{Kind: events.ReplyStat, At: 100, Session: 1, ValidUntil: 900 * ms},
			"looking", "leading", "notify elected "+c.own+" token=20")
	}
	return c
}

// multi adds a transaction, and its answer.
func (c *crafted) multi(machine events.ID, at int64, answer events.Code, path string, ops ...string) {
	number := uint64(len(c.records))
	c.add(machine, events.Event{Kind: events.TimerFired, At: at}, "a", "b",
		fmt.Sprintf("#%d multi {%s}", number, strings.Join(ops, "; ")))
	c.add(machine, events.Event{Kind: events.ReplyMulti, At: at + 10, Session: 1, Request: number, Code: answer,
		Path: path}, "b", "c")
}

const (
	aDealer = events.ID("jobdealer-jobelection-1")
	aWorker = events.ID("jobworker-1")
)

func dealTo(item int, owner string) string {
	return fmt.Sprintf("create /ns/job/sharding/%d/instance persistent data=%q", item, owner)
}

func takeOver(item int) string {
	return fmt.Sprintf("create /ns/job/sharding/%d/failover ephemeral data=\"a@-@1\"", item)
}

// readAll reads logs, which are called a, b, ….
func readAll(t *testing.T, all ...*crafted) (logs []*Log) {
	t.Helper()
	for i, c := range all {
		l, err := Read(string(rune('a'+i)), events.Header{}, &each{c.records})
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, l)
	}
	return logs
}

// explainJob explains the logs of a job's instances.
func explainJob(t *testing.T, redact bool, o Options, all ...*crafted) *Report {
	t.Helper()
	logs := readAll(t, all...)
	if redact {
		o.Path = Redact(logs, nil)(o.Path)
	}
	return Explain(logs, nil, o)
}

// A leader's dealings, its offers, what others take over, and what was refused stand in the move to the leader.
func TestAJobsItemsAreTold(t *testing.T) {
	a, b := jobLog("a@-@1", true), jobLog("b@-@1; }\"x", false)
	a.multi(aDealer, 200, events.OK, "", "check "+a.own+" version=1", "delete /ns/job/leader/sharding/necessary",
		"create /ns/job/leader/failover/items/2 persistent", "create /ns/job/sharding/0/running persistent",
		"delete /ns/job/sharding/0/running", dealTo(3, "b@-@1; }\"x"), dealTo(0, "a@-@1"), dealTo(1, "a@-@1"),
		dealTo(2, "a@-@1"), dealTo(4, "a@-@1"))
	a.multi(aDealer, 300, events.OK, "", "create /ns/job/leader/failover/items/3 persistent")
	b.multi(aWorker, 400, events.OK, "", "check /x", "delete /ns/job/leader/failover/items/3",
		takeOver(3),
		"create /ns/job/sharding/3/failovering persistent data=\"b@-@1\"")
	a.multi(aDealer, 500, events.NotEmpty, "/ns/job/sharding/0", dealTo(0, "a@-@1"))
	b.multi(aWorker, 600, events.NodeExists, "/ns/job/sharding/3/running",
		"create /ns/job/sharding/3/running ephemeral data=\"b@-@1\"")
	b.multi(aWorker, 650, events.OK, "", "create /ns/job/sharding/3/running ephemeral data=\"b@-@1\"")
	a.multi(aDealer, 700, events.ConnectionLoss, "", dealTo(0, "a@-@1"))
	got := strings.Join(explainJob(t, false, Options{Path: "/ns/job"}, a, b).Lines(false), "\n")
	at := -1
	for _, want := range []string{
		`A@-@1 dealt item 3 to "b@-@1; }\"x", items 0–2, 4 to a@-@1 at 00:00:00.210 [a:`,
		`A@-@1 offered item 3 to others at 00:00:00.310 [a:`,
		`b@-@1; }\"x" took over item 3 at 00:00:00.410 [b:`,
		`A@-@1 would have dealt item 0 to a@-@1 at 00:00:00.510, and was refused: NOTEMPTY /ns/job/sharding/0 [a:`,
		`b@-@1; }\"x" would have marked item 3 as running at 00:00:00.610, and was refused: NODEEXISTS /ns/job`,
		`A@-@1 dealt item 0 to a@-@1, or did not: its answer at 00:00:00.710 was CONNECTIONLOSS [a:`,
	} {
		next := strings.Index(strings.ToLower(got), strings.ToLower(want))
		if next <= at {
			t.Errorf("no %q behind what comes before, in\n%s", want, got)
		}
		at = next
	}
	if strings.Contains(got, "00:00:00.660") {
		t.Errorf("a run that began is in the story:\n%s", got)
	}
}

// Facts have each owner's items. Redacted, they have no name.
func TestAJobsItemsAreFacts(t *testing.T) {
	play := func() *crafted {
		a := jobLog("a@-@1", true)
		a.multi(aDealer, 200, events.OK, "", dealTo(0, "a@-@1"), dealTo(1, "b@-@1"), dealTo(2, "a@-@1"))
		a.multi(aWorker, 300, events.NoNode, "/ns/job/leader/failover/items/1", takeOver(1))
		return a
	}
	var items []Fact
	for _, f := range explainJob(t, false, Options{}, play()).Facts() {
		if f.Items != nil {
			items = append(items, f)
		}
	}
	if len(items) != 3 || items[0].Type != "dealt" || items[0].Owner != "a@-@1" ||
		!slices.Equal(items[0].Items, []int{0, 2}) ||
		items[1].Owner != "b@-@1" || items[0].Path != "/ns/job" || items[0].Participant != "a@-@1" {
		t.Errorf("%+v", items)
	}
	if f := items[2]; f.Type != "refused" || f.How != "taken-over" || f.Code != events.NoNode || f.Owner != "" ||
		f.Node != "/ns/job/leader/failover/items/1" {
		t.Errorf("%+v", f)
	}
	r := explainJob(t, true, Options{Path: "/ns/job"}, play())
	text := fmt.Sprintf("%v %+v", r.Lines(true), r.Facts())
	if !strings.Contains(text, "dealt items 0, 2 to participant1, item 1 to participant2") ||
		strings.Contains(text, "@") || strings.Contains(text, "failover") {
		t.Error(text)
	}
}

// Without the log of a leader, what instances took over stands in lines of its own. Of many lines the last are shown.
func TestAJobsItemsWithoutALeader(t *testing.T) {
	a := jobLog("a@-@1", false)
	for n := range int64(9) {
		a.multi(aWorker, 200+100*n, events.OK, "", takeOver(int(n)))
	}
	got := strings.Join(explainJob(t, false, Options{Path: "/ns/job"}, a).Lines(true), "\n")
	if !strings.Contains(got, "in 3 transactions more") || strings.Contains(got, "took over item 2 ") ||
		!strings.Contains(got, "took over item 3 at") || !strings.Contains(got, "took over item 8 at") {
		t.Error(got)
	}
	got = strings.Join(explainJob(t, false, Options{Path: "/other"}, a).Lines(true), "\n")
	if strings.Contains(got, "took over") {
		t.Error(got)
	}
}

// A term has only its own dealings, and what others did until the next term.
func TestAJobsItemsBelongToATerm(t *testing.T) {
	a, b := jobLog("a@-@1", true), jobLog("b@-@1", false)
	a.multi(aDealer, 200, events.OK, "", dealTo(0, "a@-@1"))
	a.add("jobelection-1", events.Event{Kind: events.WatchDeleted, At: 300, Session: 1}, "leading", "draining",
		"notify stopped "+a.own+" token=20")
	b.add("jobelection-1", events.Event{Kind: events.ReplyStat, At: 400, Session: 1, ValidUntil: 900 * ms}, "looking",
		"leading", "notify elected "+b.own+" token=30")
	b.multi(aDealer, 500, events.OK, "", dealTo(0, "b@-@1"))
	a.multi(aWorker, 600, events.OK, "", takeOver(0))
	r := explainJob(t, false, Options{Token: 20}, a, b)
	var first, second []string
	whole := explainJob(t, false, Options{}, a, b)
	for _, m := range whole.Moves {
		for _, s := range whole.story(m) {
			switch {
			case m.To != nil && m.To.Token == 20:
				first = append(first, s.Text)
			default:
				second = append(second, s.Text)
			}
		}
	}
	if one, two := strings.Join(first, "\n"), strings.Join(second, "\n"); !strings.Contains(one, "dealt item 0 to a") ||
		strings.Contains(one, "took over") || !strings.Contains(two, "dealt item 0 to b") ||
		!strings.Contains(two, "took over item 0") || strings.Contains(two, "item 0 to a") {
		t.Errorf("%s\n--\n%s\n%v", one, two, r.Moves)
	}
}

func TestItemNames(t *testing.T) {
	for want, items := range map[string][]int{"item 3": {3}, "items 0, 1": {1, 0}, "items 0–2, 4": {0, 1, 2, 4},
		"items 1, 3, 5, 6": {1, 3, 5, 6}} {
		if got := itemNames(items); got != want {
			t.Errorf("%v: %q, want %q", items, got, want)
		}
	}
}
