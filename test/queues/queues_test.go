package queues

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

var (
	worlds = flag.Int64("worlds", 1500, "how many worlds to run")
	first  = flag.Int64("world", 0, "the first of them")
	loud   = flag.Bool("loud", false, "print every step")
)

// seldom are the rows that only more worlds than every test run has would take, or
// that nothing here asks for; golden traces have them all.
var seldom = []string{
	"producer connection.lost", "producer timer.fired", "producer reply.stat [passing]", "producer reply.delete [passing]",
	"consumer command.start", "consumer reply.multi [unheld]", "consumer watch.deleted", "consumer command.close", "consumer connection.lost", "consumer reply.stat", "consumer reply.multi [hopeless]",
	"consumer reply.multi [graveless]", "consumer reply.multi [burdened]",
}

func TestWorlds(t *testing.T) {
	for seed := *first; seed < *first+*worlds; seed++ {
		if broken := run(seed, nil); len(broken) > 0 {
			t.Fatalf("world %d (-world %d -worlds 1 -loud tells it):\n%s", seed, seed, strings.Join(broken, "\n"))
		}
	}
	if *worlds < 1500 {
		return
	}
	for _, r := range []engine.Recipe{machines.ProducerRecipe, machines.ConsumerRecipe} {
		for _, row := range r.Describe().ByKind() {
			taken := slices.Contains(seldom, r.Name()+" "+row.Label())
			for _, from := range row.From {
				taken = taken || fired[r.Name()+" "+string(from)+" "+row.Label()]
			}
			if !taken {
				t.Errorf("no world takes the row %s %v %s", r.Name(), row.From, row.Label())
			}
		}
	}
}

// plant is a bug that is put in on purpose.
type plant struct {
	name   string
	posted func(c *client, id events.ID, ev *events.Event) bool // false drops the event
	sent   func(c *client, id events.ID, r events.Request) events.Request
}

// multi changes the operations of consumers or producers.
func multi(who string, change func(events.Op) (events.Op, bool)) func(*client, events.ID, events.Request) events.Request {
	return func(_ *client, id events.ID, r events.Request) events.Request {
		m, ok := r.(events.Multi)
		if !ok || !strings.HasPrefix(string(id), who) {
			return r
		}
		var ops []events.Op
		for _, op := range m.Ops {
			if op, keep := change(op); keep {
				ops = append(ops, op)
			}
		}
		if len(ops) > 0 {
			m.Ops = ops
		}
		return m
	}
}

// without returns a function that drops the operations for which drop reports true.
func without(drop func(events.Op) bool) func(events.Op) (events.Op, bool) {
	return func(op events.Op) (events.Op, bool) { return op, !drop(op) }
}

func answers(kind events.Kind, who string, change func(*client, *events.Event)) func(*client, events.ID, *events.Event) bool {
	return func(c *client, id events.ID, ev *events.Event) bool {
		if ev.Kind == kind && strings.HasPrefix(string(id), who) {
			change(c, ev)
		}
		return true
	}
}

var plants = []plant{
	{name: "a put sets the marker at any version", sent: multi("producer", func(op events.Op) (events.Op, bool) {
		if op.Verb == "set" {
			op.Version = -1
		}
		return op, true
	})},
	{name: "a good answer to a put comes as one of a wrong version", posted: func(c *client, id events.ID, ev *events.Event) bool {
		if ev.Kind == events.ReplyMulti && strings.HasPrefix(string(id), "producer") && ev.Code == events.OK && ev.Zxid%7 == 0 {
			ev.Code = events.BadVersion
		}
		return true
	}},
	{name: "items are not locked", sent: multi("consumer", without(func(op events.Op) bool {
		return op.Verb == "create" && op.Mode == events.Ephemeral
	}))},
	{name: "an item whose try failed is deleted", posted: answers(events.WorkReturned, "consumer", func(_ *client, ev *events.Event) { ev.Text = "" })},
	{name: "dead letters are not written", sent: multi("consumer", without(func(op events.Op) bool {
		return op.Verb == "create" && op.Mode == events.PersistentSequential
	}))},
	{name: "an item is handed over although another was faster", posted: answers(events.ReplyMulti, "consumer", func(c *client, ev *events.Event) {
		if c.w.once && ev.Code == events.NoNode {
			ev.Code = events.OK
		}
	})},
	{name: "every lock that is read is taken for the own", posted: answers(events.ReplyStat, "consumer", func(c *client, ev *events.Event) {
		if len(ev.Data) > 0 || ev.Code == events.NoNode && strings.Contains(ev.Path, "-locks/") {
			ev.Code, ev.Data = events.OK, nil
		}
	})},
	{name: "the leader's clock is read wrong", posted: answers(events.ReplyMulti, "consumer", func(_ *client, ev *events.Event) {
		if ev.Stat != nil {
			stat := *ev.Stat
			stat.Mtime += 2000
			ev.Stat = &stat
		}
	})},
	{name: "an item is never listed", posted: answers(events.ReplyChildren, "consumer", func(_ *client, ev *events.Event) {
		ev.Children = slices.DeleteFunc(slices.Clone(ev.Children), func(name string) bool { return strings.HasSuffix(name, "2") })
	})},
	{name: "changes of the queue are not told", posted: func(_ *client, _ events.ID, ev *events.Event) bool {
		return ev.Kind != events.WatchChildren
	}},
	{name: "the lock of a finished item stays", sent: multi("consumer", without(func(op events.Op) bool {
		return op.Verb == "delete" && strings.Contains(op.Path, "-locks/")
	}))},
	{name: "the last is handed over first", posted: answers(events.ReplyChildren, "consumer", func(_ *client, ev *events.Event) {
		if len(ev.Children) > 1 {
			ev.Children = ev.Children[1:]
		}
	})},
	{name: "the marker is left at the close", sent: func(c *client, id events.ID, r events.Request) events.Request {
		if d, ok := r.(events.Delete); ok && strings.HasPrefix(string(id), "producer") {
			d.Path += "x"
			return d
		}
		return r
	}},
}

// TestPlants shows that the worlds can find something.
func TestPlants(t *testing.T) {
	for i := range plants {
		p := &plants[i]
		t.Run(p.name, func(t *testing.T) {
			for seed := range int64(400) {
				if broken := run(seed, p); len(broken) > 0 {
					t.Logf("world %d: %s", seed, broken[0])
					return
				}
			}
			t.Error("not found in 400 worlds")
		})
	}
}
