package machines

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/incumbent-go/incumbent/events"
)

// A golden trace is a conversation: a command, "----", what the machines did
// with it. docs/contributors.md has the words that a trace may use; make golden
// writes the answers again.

// TestTraces plays every conversation and replays its records. When all of them
// have run, it asks whether each row of each chart has fired in one of them: with
// -run TestTraces/latch/x, the other rows are nobody's fault.
func TestTraces(t *testing.T) {
	fired := newCoverage()
	played := map[string]bool{}
	play := func(t *testing.T, path string) {
		played[path] = true
		mustBeWellFormed(t, path)
		c := newConversation(t, fired)
		m, rewrites := newMeanings(c), false
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			rewrites = d.Rewrite
			return compared(d, m.play(d, func() string { return c.say(t, d) }))
		})
		switch changed := m.String(); {
		case *judged:
		case rewrites && changed != "":
			fmt.Printf("%s:\n%s", path, changed)
		case changed != "":
			t.Errorf("the golden text is what the machines do, and is said to mean something else:\n%s", changed)
		}
		c.replays(t)
		mirror(t, path, fired)
	}
	for _, r := range Recipes() {
		t.Run(r.Name(), func(t *testing.T) { datadriven.Walk(t, filepath.Join("testdata", r.Name()), play) })
	}
	all := traces(t)
	if n := left(all, played); n > 0 {
		t.Logf("%d of %d traces did not run, so no row is missed", n, len(all))
	} else if !t.Failed() {
		for _, gap := range fired.gaps() {
			t.Error(gap)
		}
	}
}

// conversation is an engine whose clock and ensemble are played by a file.
type conversation struct {
	*judge
	now     time.Duration
	next    map[events.ID]string // the seed of each machine, for its GUIDs
	owed    map[events.ID][]owed
	own     map[events.ID]events.Event // the create that made each machine's node
	command uint64
	number  int64  // of the present session
	mirrors string // the recipe that plays a latch's conversation: selectors queue again by themselves
	reads   []int  // and the session's requests that a latch's conversation has not
	fired   *coverage
	swaps   swaps
	turn    int    // the number of the present directive
	met     *owed  // what it answers
	fresh   []owed // what it made machines ask
}

// owed is a request or timer that the file may answer without naming its number.
type owed struct {
	askedFor
	number uint64
	kind   events.Kind
	name   string
	path   string
}

func newConversation(t *testing.T, fired *coverage) *conversation {
	c := &conversation{judge: newJudge(nil), next: map[events.ID]string{}, owed: map[events.ID][]owed{},
		own: map[events.ID]events.Event{}, fired: fired}
	c.now = time.Second
	return c
}

// say plays one directive:
//
//	connected [timeout=15s]      opens session 1 and attaches it, quietly; the tick is 2s
//	open latch id=a path=/l      makes a machine of this recipe, named like it (or name=latch-2), with options k=v
//	leads latch                  makes the machine and takes the usual way there, quietly
//	waits latch seq=1 behind=(…) likewise, behind these nodes
//	at 2s                        moves the clock on
//	attach, suspend, lose        change the connection, as zkio tells it
//	latch reply.create seq=7     is an event for a machine; an answer finds the oldest request of its kind by itself.
//	                             "own" is the name, or path, of the machine's own node
//
// docs/contributors.md has the arguments of events.
func (c *conversation) say(t *testing.T, d *datadriven.TestData) string {
	if why := unreadable(d); why != "" {
		d.Fatalf(t, "%s", why)
	}
	switch d.Cmd {
	case "at":
		step, _ := time.ParseDuration(d.CmdArgs[0].Key)
		c.now += step
		return ""
	case "connected":
		c.create("session", "session", d)
		c.feed(t, "session", events.Event{Kind: events.CommandStart})
		c.attach(t, d)
		return ""
	case "open":
		return c.create(d.CmdArgs[0].Key, "", d)
	case "attach":
		return c.attach(t, d)
	case "leads", "waits":
		return c.usher(t, d)
	case "suspend":
		return c.feed(t, "session", events.Event{Kind: events.ConnectionSuspended, Code: events.ConnectionLoss})
	case "lose":
		return c.feed(t, "session", events.Event{Kind: events.ConnectionLost, Code: events.SessionExpired})
	}
	return c.event(t, events.ID(d.Cmd), d)
}

// usher brings "leads latch-2 seq=0" or "waits latch seq=1 behind=(…)" there.
func (c *conversation) usher(t *testing.T, d *datadriven.TestData) string {
	name := d.CmdArgs[0].Key
	recipe, _, _ := strings.Cut(name, "-")
	id := events.ID(name)
	var ahead []string
	seq := "0"
	for i := range d.CmdArgs {
		switch a := &d.CmdArgs[i]; a.Key {
		case "behind":
			ahead = a.Vals
		case "seq":
			seq = a.Vals[0]
		}
	}
	c.create(recipe, name, d)
	if script := ways[d.Cmd+" "+recipe]; script != nil {
		return c.usherAlong(t, script, name)
	}
	play := func(kind events.Kind, args ...datadriven.CmdArg) {
		line := &datadriven.TestData{Cmd: name, CmdArgs: append([]datadriven.CmdArg{{Key: string(kind)}}, args...)}
		c.event(t, id, line)
	}
	begin := events.CommandStart
	if recipe == "mutex" || recipe == "readwrite" {
		begin = events.CommandAwait
	}
	play(begin)
	play(events.ReplyCreate, datadriven.CmdArg{Key: "seq", Vals: []string{seq}})
	play(events.ReplyStat)
	play(events.ReplyChildren, datadriven.CmdArg{Key: "children", Vals: append([]string{"own"}, ahead...)})
	if len(ahead) > 0 {
		play(events.ReplyStat, datadriven.CmdArg{Key: "owner", Vals: []string{"7"}},
			datadriven.CmdArg{Key: "czxid", Vals: []string{"5"}})
	}
	return fmt.Sprintf("%s: %s\n", name, c.engine.State(id))
}

func (c *conversation) create(recipe, name string, d *datadriven.TestData) string {
	ev := events.Event{Kind: events.CommandOpen, Recipe: recipe, Options: map[string]string{}}
	if name == "" {
		name = recipe
	}
	for _, a := range d.CmdArgs {
		switch {
		case len(a.Vals) == 0, a.Key == "timeout", a.Key == "seq", a.Key == "behind":
		case a.Key == "name":
			name = a.Vals[0]
		case a.Key == "path":
			ev.Path = a.Vals[0]
		case a.Key == "id" && recipe != "request": // a request has an option of that name
			ev.Data = []byte(a.Vals[0])
		case a.Key == "do":
			ev.Ops = append(ev.Ops, events.Op{Verb: a.Vals[0]})
		case a.Key == "version":
			n, _ := strconv.Atoi(a.Vals[0])
			ev.Ops[0].Version = int32(n)
		case a.Key == "mode":
			ev.Ops[0].Mode = events.Mode(a.Vals[0])
		case a.Key == "ttl":
			ev.Ops[0].TTL, _ = time.ParseDuration(a.Vals[0])
		case a.Key == "payload":
			ev.Work, _ = strconv.ParseUint(a.Vals[0], 10, 64)
		default:
			ev.Options[a.Key] = a.Vals[0]
		}
	}
	switch {
	case recipe == "session" && ev.Options["tick"] == "":
		ev.Options["tick"] = "2s" // as in most ensembles
	case c.mirrors == "selector" && recipe == "selector":
		ev.Options["autoRequeue"] = "true"
	case recipe == "election" && ev.Options["prefix"] == "":
		ev.Options["prefix"] = "n_"
	}
	if ev.Path == "" && recipe != "session" {
		ev.Path = "/l"
	}
	for i := range ev.Ops {
		ev.Ops[i].Path = ev.Path
	}
	ev.Seed = name
	if c.mirrors != "" {
		ev.Seed = strings.ReplaceAll(name, c.mirrors, originals[c.mirrors]) // the same jitter
	}
	c.next[events.ID(name)] = ev.Seed
	return c.feed(nil, events.ID(name), ev)
}

// event reads "machine kind key=value…".
func (c *conversation) event(t *testing.T, to events.ID, d *datadriven.TestData) string {
	ev := events.Event{Kind: events.Kind(d.CmdArgs[0].Key), Session: 0}
	stat := events.Stat{EphemeralOwner: c.number}
	hasStat := ev.Kind == events.ReplyStat || ev.Kind == events.TreeNode
	sequence := ""
	for _, a := range d.CmdArgs[1:] {
		value := ""
		if len(a.Vals) > 0 {
			value = c.real(strings.Join(a.Vals, ","))
		}
		number, _ := strconv.ParseInt(value, 0, 64)
		switch a.Key {
		case "request":
			ev.Request = uint64(number)
		case "session":
			ev.Session = number
		case "code":
			ev.Code = events.Code(value)
			hasStat = false
		case "path":
			ev.Path = value
			if value == "own" {
				ev.Path = c.own[to].Path
			}
		case "seq":
			sequence = fmt.Sprintf("%010d", number)
			ev.Zxid = 16 + number
		case "zxid":
			ev.Zxid = number
		case "czxid":
			stat.Czxid = number
		case "owner":
			stat.EphemeralOwner = number
		case "version":
			stat.Version, hasStat = int32(number), hasStat || ev.Kind == events.ReplyMulti
		case "mzxid":
			stat.Mzxid = number
		case "text":
			ev.Text = strings.ReplaceAll(value, "_", " ")
		case "name":
			ev.Text = value
		case "data":
			ev.Data = []byte(value)
		case "lines", "checks", "config":
			severalValues(&ev, a)
		case "nostat":
			hasStat = false
		case "work":
			ev.Work = uint64(number)
		case "count":
			stat.NumChildren = int32(number)
		case "mtime":
			stat.Mtime, hasStat = number, true
		case "items", "bytes", "priority", "delay", "due", "id":
			if ev.Options == nil {
				ev.Options = map[string]string{}
			}
			ev.Options[a.Key] = value
		case "silent":
			ev.Silent = true
		case "sent":
			ago, _ := time.ParseDuration(value)
			ev.SentAt = int64(c.now - ago)
		case "contact":
			ago, _ := time.ParseDuration(value)
			ev.Contact = int64(c.now - ago)
		case "paused":
			paused, _ := time.ParseDuration(value)
			ev.Paused = int64(paused)
		case "children":
			for _, v := range a.Vals {
				if v == "own" {
					v = base(c.own[to].Path)
				}
				if v != "" {
					ev.Children = append(ev.Children, c.real(v))
				}
			}
		default:
			d.Fatalf(t, "unknown argument %s", a.Key)
		}
	}
	c.complete(to, &ev)
	if hasStat {
		if ev.Path == c.own[to].Path {
			stat.Czxid = cmp.Or(stat.Czxid, c.own[to].Zxid)
		}
		ev.Stat = &stat
	}
	if ev.Kind == events.ReplyCreate && ev.Code == events.OK && (sequence != "" || ev.Zxid != 0) {
		ev.Path += sequence
		c.own[to] = ev
	}
	if multi, ok := c.asked[to][ev.Request].(events.Multi); ok && ev.Kind == events.ReplyMulti && ev.Code == events.OK {
		c.commit(to, &ev, multi, sequence)
	}
	return c.feed(t, to, ev)
}

// feed steps the engine and writes down what happened.
func (c *conversation) feed(t *testing.T, to events.ID, ev events.Event) string {
	ev.At = int64(c.now)
	if ev.Kind == events.ConnectionAttached || ev.Kind == events.ConnectionSuspended ||
		ev.Kind == events.ConnectionLost {
		ev.Session = cmp.Or(ev.Session, c.number)
	}
	effects := c.step(to, ev)
	for _, r := range c.engine.Records() {
		if r.Internal && r.Event.Kind == events.CommandOpen { // by another machine
			c.next[r.Machine] = r.Event.Seed
		}
	}
	for _, a := range effects {
		c.note(a)
	}
	if t != nil && len(c.wrongs) > 0 {
		t.Fatalf("after %s to %s:\n%s", ev.Kind, to, strings.Join(c.wrongs, "\n"))
	}
	var b strings.Builder
	for _, r := range c.engine.Records() {
		c.fired.note(r)
		fmt.Fprintf(&b, "%s: ", r.Machine)
		switch r.Row {
		case events.RowLate, events.RowIgnored, events.RowUnknown, events.RowRefused, string(events.CommandOpen):
			fmt.Fprintf(&b, "%s %s", r.Event.Kind, r.Row)
		default:
			fmt.Fprintf(&b, "%s --%s--> %s", r.From, r.Row, r.To)
		}
		b.WriteByte('\n')
		for _, e := range r.Effects.Strings() {
			if e := c.inCommon(r.Machine, e); e != "" {
				fmt.Fprintf(&b, "  %s\n", e)
			}
		}
	}
	return c.readable(b.String())
}
