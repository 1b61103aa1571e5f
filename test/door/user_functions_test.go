package door_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"net"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// userFunctions returns what a user can give that is called: the fields of Config and of every options struct, and
// the types of functions that methods take.
func userFunctions() []string {
	var found []string
	seen := map[reflect.Type]bool{}
	called := func(t reflect.Type) bool {
		return t.Kind() == reflect.Func || t.Kind() == reflect.Interface || t == reflect.TypeFor[zerolog.Logger]() ||
			t == reflect.TypeFor[*tls.Config]() || t == reflect.TypeFor[*incumbent.FlightLog]()
	}
	var fields func(t reflect.Type)
	fields = func(t reflect.Type) {
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || seen[t] || t.PkgPath() != reflect.TypeFor[incumbent.Config]().PkgPath() {
			return
		}
		seen[t] = true
		of, _, _ := strings.Cut(t.Name(), "[")
		for i := range t.NumField() {
			switch f := t.Field(i); {
			case !f.IsExported():
			case called(f.Type):
				found = append(found, of+"."+f.Name)
			default:
				fields(f.Type)
			}
		}
	}
	takes := func(f reflect.Type) {
		for _, in := range ins(f) {
			switch {
			case in.Kind() == reflect.Func:
				found = append(found, in.String())
			case in.Kind() == reflect.Struct:
				fields(in)
			}
		}
	}
	for _, function := range []any{incumbent.Open, incumbent.RecordIn} {
		takes(reflect.TypeOf(function))
	}
	for _, maker := range makers {
		takes(reflect.TypeOf(maker))
	}
	for _, t := range handleTypes() {
		for _, m := range methods(reflect.PointerTo(t)) {
			takes(m.Type)
		}
	}
	slices.Sort(found)
	return slices.DeleteFunc(slices.Compact(found), func(name string) bool { return slices.Contains(data, name) })
}

// data are fields of what the library hands out, which nobody calls.
var data = []string{"HandleStats.Err", "Participant.Err"}

// misbehaviour is what a user's function does at its first calls.
type misbehaviour struct {
	kind  string // "panic", "goexit" or "nil"
	calls atomic.Int32
}

// now reports whether the function is to return nothing this time, unless it does not return.
func (m *misbehaviour) now() bool {
	if m.calls.Add(1) > 2 {
		return false
	}
	switch m.kind {
	case "panic":
		panic("oh dear")
	case "goexit":
		runtime.Goexit()
	}
	return true
}

// Write is a writer's.
func (m *misbehaviour) Write(b []byte) (int, error) {
	m.now()
	return len(b), nil
}

// misuses has a world for each function: it is set, and called at least once. The texts that it returns have to say
// what happened.
var misuses = map[string]func(t *testing.T, w *world, m *misbehaviour, config func(*incumbent.Config)) string{
	"Config.Dial": func(_ *testing.T, w *world, m *misbehaviour, config func(*incumbent.Config)) string {
		w.open(config, func(c *incumbent.Config) {
			dial := c.Dial
			c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				if m.now() {
					return nil, nil
				}
				return dial(ctx, network, address)
			}
		})
		pass(time.Minute)
		return ""
	},
	"Config.SASL": func(_ *testing.T, w *world, m *misbehaviour, config func(*incumbent.Config)) string {
		w.open(config, func(c *incumbent.Config) { c.SASL = oddMechanism{m} })
		pass(time.Minute)
		return ""
	},
	"Config.Observe": func(_ *testing.T, w *world, m *misbehaviour, config func(*incumbent.Config)) string {
		w.start(config, func(c *incumbent.Config) { c.Observe = func(incumbent.Event) { m.now() } })
		return ""
	},
	"Config.Record": func(t *testing.T, w *world, m *misbehaviour, config func(*incumbent.Config)) string {
		n := w.startNode(&node{w: w, also: m}, config)
		pass(time.Minute)
		err := n.Recording().Err
		fails(t, n.latch.Close(t.Context()))
		return fmt.Sprint(err)
	},
	"Config.Logger": func(_ *testing.T, w *world, m *misbehaviour, _ func(*incumbent.Config)) string {
		var lost []string
		zerolog.ErrorHandler = func(err error) { lost = append(lost, err.Error()) }
		defer func() { zerolog.ErrorHandler = nil }()
		w.start(func(c *incumbent.Config) { c.Logger = zerolog.New(m) })
		pass(time.Minute)
		return strings.Join(lost, "; ")
	},
	"LatchOptions.Healthy": func(t *testing.T, w *world, m *misbehaviour, config func(*incumbent.Config)) string {
		return started(t, must(w.open(config).Latch("/line", incumbent.LatchOptions{Healthy: m.check})))
	},
	"SelectorOptions.Healthy": func(t *testing.T, w *world, m *misbehaviour, config func(*incumbent.Config)) string {
		return started(t, must(w.open(config).Selector("/line", idleWork, incumbent.SelectorOptions{Healthy: m.check})))
	},
	"NodeElectionOptions.Healthy": func(t *testing.T, w *world, m *misbehaviour,
		config func(*incumbent.Config)) string {
		return started(t, must(w.open(config).NodeElection("/n", incumbent.NodeElectionOptions{Healthy: m.check})))
	},
	"ShardsOptions.Healthy": func(t *testing.T, w *world, m *misbehaviour, config func(*incumbent.Config)) string {
		s := must(w.open(config).Shards("/group", 1, incumbent.ShardsOptions{Healthy: m.check}))
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, context.Canceled)
		defer cancel()
		_ = s.Run(ctx, func(one *incumbent.Shard) error { <-one.Context().Done(); return nil })
		return ""
	},
	"NodeElectionOptions.Fence": func(t *testing.T, w *world, m *misbehaviour,
		config func(*incumbent.Config)) string {
		must(w.srv.Create("/crumb", []byte("last"), zkmem.Persistent))
		e := must(w.open(config).NodeElection("/node", incumbent.NodeElectionOptions{Crumb: "crumb",
			Fence: func(context.Context, []byte) error { m.now(); return nil }}))
		fails(t, e.Start())
		pass(time.Minute)
		return ""
	},
	"Listener.IsLeader": func(t *testing.T, w *world, m *misbehaviour, config func(*incumbent.Config)) string {
		w.start(config).latch.AddListener(incumbent.Listener{IsLeader: func(incumbent.Term) { m.now() }})
		return ""
	},
	"Listener.NotLeader": func(t *testing.T, w *world, m *misbehaviour, config func(*incumbent.Config)) string {
		n := w.start(config)
		n.latch.AddListener(incumbent.Listener{NotLeader: func(incumbent.Term, error) { m.now() }})
		n.cut()
		return ""
	},
	"ShardListener.Owned": func(t *testing.T, w *world, m *misbehaviour, config func(*incumbent.Config)) string {
		return ownShard(t, w.open(config), incumbent.ShardListener{Owned: func(int, incumbent.Term) { m.now() }})
	},
	"ShardListener.NotOwned": func(t *testing.T, w *world, m *misbehaviour, config func(*incumbent.Config)) string {
		return ownShard(t, w.open(config),
			incumbent.ShardListener{NotOwned: func(int, incumbent.Term, error) { m.now() }})
	},
	"JobOptions.Schedule": func(t *testing.T, w *world, m *misbehaviour, config func(*incumbent.Config)) string {
		jw := newJobWorld(w, yamlJob(1))
		i := jw.instance("a@-@1", nil, incumbent.JobOptions{Schedule: func(incumbent.JobConfig) (incumbent.JobSchedule,
			error) {
			m.now()
			return nil, nil
		}}, config)
		return fmt.Sprint(i.job.Err())
	},
	"func(context.Context, *incumbent.Item) error": func(t *testing.T, w *world, m *misbehaviour,
		config func(*incumbent.Config)) string {
		jw := newJobWorld(w, yamlJob(1))
		i := jw.instance("a@-@1", func(context.Context, *incumbent.Item) error { m.now(); return nil },
			incumbent.JobOptions{}, config)
		jw.deal("a@-@1")
		i.trigger()
		i.trigger()
		if jw.since() != "a@-@10 a@-@10" {
			t.Error("after the item has failed, it does not run")
		}
		return ""
	},
	"SelectorOptions.OnConnection": func(t *testing.T, w *world, m *misbehaviour,
		config func(*incumbent.Config)) string {
		n := w.open(config)
		s := must(n.Selector("/line", idleWork, incumbent.SelectorOptions{AutoRequeue: true,
			OnConnection: func(incumbent.ConnectionState) error { m.now(); return nil }}))
		fails(t, s.Start())
		pass(time.Second)
		n.cut()
		return ""
	},
	"SelectorOptions.Executor": func(t *testing.T, w *world, m *misbehaviour, config func(*incumbent.Config)) string {
		s := must(w.open(config).Selector("/line", idleWork, incumbent.SelectorOptions{AutoRequeue: true,
			Executor: func(run func()) { m.now(); run() }}))
		fails(t, s.Start())
		pass(time.Minute)
		if !s.HasLeadership() {
			t.Error("it does not lead after the executor has recovered")
		}
		return ""
	},
	"ConsumerOptions.OnFailure": func(t *testing.T, w *world, m *misbehaviour, config func(*incumbent.Config)) string {
		return consume(t, w, config, incumbent.QueueOptions[string]{},
			func(incumbent.Delivery[string]) error { return errNoLuck },
			func(string, int, error) { m.now() })
	},
	"QueueOptions.Codec": func(t *testing.T, w *world, m *misbehaviour, config func(*incumbent.Config)) string {
		return consume(t, w, config, incumbent.QueueOptions[string]{Codec: oddCodec{m}},
			func(incumbent.Delivery[string]) error { return nil }, nil)
	},
	"func(context.Context, incumbent.Delivery[string]) error": func(t *testing.T, w *world, m *misbehaviour,
		config func(*incumbent.Config)) string {
		return consume(t, w, config, incumbent.QueueOptions[string]{},
			func(incumbent.Delivery[string]) error { m.now(); return nil }, nil)
	},
	"func(context.Context, incumbent.Delivery[string])": func(t *testing.T, w *world, m *misbehaviour,
		config func(*incumbent.Config)) string {
		n := w.open(config)
		q := must(incumbent.NewQueue(n.Client, "/q", incumbent.QueueOptions[string]{Codec: incumbent.Text()}))
		c := must(q.AtMostOnce(func(context.Context, incumbent.Delivery[string]) { m.now() },
			incumbent.ConsumerOptions{}))
		fails(t, c.Start())
		fails(t, q.Put(t.Context(), "item"))
		pass(time.Minute)
		return ""
	},
	"func(incumbent.ConnectionState)": func(t *testing.T, w *world, m *misbehaviour,
		config func(*incumbent.Config)) string {
		w.start(config).OnConnection(func(incumbent.ConnectionState) { m.now() })
		return ""
	},
	"func(incumbent.Result)": func(t *testing.T, w *world, m *misbehaviour, config func(*incumbent.Config)) string {
		w.open(config).Get("/").Background(t.Context(), func(incumbent.Result) { m.now() })
		return ""
	},
	"func(error)": func(t *testing.T, w *world, m *misbehaviour, config func(*incumbent.Config)) string {
		q := must(incumbent.NewQueue(w.open(config).Client, "/q", incumbent.QueueOptions[string]{}))
		fails(t, q.PutLater(t.Context(), "item", func(error) { m.now() }))
		pass(time.Second)
		return ""
	},
	"func(*incumbent.Leadership) error": func(t *testing.T, w *world, m *misbehaviour,
		config func(*incumbent.Config)) string {
		j := must(w.open(config).JobElection("/job", incumbent.JobElectionOptions{}))
		fails(t, j.Start())
		err := j.ExecuteInLeader(t.Context(), "/once", func(*incumbent.Leadership) error { m.now(); return nil })
		return fmt.Sprint(err)
	},
	"func(*incumbent.Shard) error": func(t *testing.T, w *world, m *misbehaviour,
		config func(*incumbent.Config)) string {
		s := must(w.open(config).Shards("/group", 1, incumbent.ShardsOptions{}))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx, func(*incumbent.Shard) error { m.now(); return nil }) }()
		pass(time.Minute)
		if owned := s.Owned(); len(owned) != 1 {
			t.Errorf("it owns %d after the function has recovered", owned)
		}
		cancel()
		return fmt.Sprint(<-ended)
	},
	"incumbent.Work": func(t *testing.T, w *world, m *misbehaviour, config func(*incumbent.Config)) string {
		s := must(w.open(config).Selector("/line", func(l *incumbent.Leadership) error { m.now(); return idleWork(l) },
			incumbent.SelectorOptions{AutoRequeue: true}))
		fails(t, s.Start())
		pass(time.Minute)
		if !s.HasLeadership() {
			t.Error("it does not lead after the work has recovered")
		}
		return ""
	},
}

// check is a check of health that misbehaves.
func (m *misbehaviour) check(context.Context) error { m.now(); return nil }

// started starts a handle, and lets it run for a minute.
func started(t *testing.T, h interface{ Start() error }) string {
	fails(t, h.Start())
	pass(time.Minute)
	return ""
}

// idleWork works until its leadership ends.
func idleWork(l *incumbent.Leadership) error {
	<-l.Context().Done()
	return nil
}

// oddMechanism is a mechanism whose Next misbehaves.
type oddMechanism struct{ m *misbehaviour }

func (oddMechanism) Name() string { return "ODD" }

func (o oddMechanism) Start(context.Context, incumbent.SASLServer) (incumbent.SASLExchange, []byte, error) {
	return o, nil, nil
}

func (o oddMechanism) Next(context.Context, []byte) (answer []byte, done bool, err error) {
	return nil, !o.m.now(), nil
}

// oddCodec is a codec whose Decode misbehaves.
type oddCodec struct{ m *misbehaviour }

func (oddCodec) Encode(item string) ([]byte, error)   { return []byte(item), nil }
func (c oddCodec) Decode(data []byte) (string, error) { c.m.now(); return string(data), nil }

// consume puts an item, and handles it.
func consume(t *testing.T, w *world, config func(*incumbent.Config), o incumbent.QueueOptions[string],
	handler func(incumbent.Delivery[string]) error, failed func(string, int, error)) string {
	n := w.open(config)
	q := must(incumbent.NewQueue(n.Client, "/q", o))
	c := must(q.AtLeastOnce(func(_ context.Context, d incumbent.Delivery[string]) error { return handler(d) },
		incumbent.ConsumerOptions{OnFailure: failed}))
	fails(t, c.Start())
	fails(t, q.Put(t.Context(), "item"))
	pass(time.Minute)
	return ""
}

// A function of a user that panics, ends its goroutine or returns nothing is named once, and nothing ends or waits
// because of it.
func TestUserFunctionsThatMisbehave(t *testing.T) {
	// zkio has the test
	all := slices.DeleteFunc(userFunctions(), func(name string) bool { return name == "TLS.Config" })
	if want := slices.Sorted(maps.Keys(misuses)); !slices.Equal(all, want) {
		t.Fatalf("a user gives\n%s\nand cases are there for\n%s", strings.Join(all, "\n"), strings.Join(want, "\n"))
	}
	for name, misuse := range misuses {
		for kind, want := range map[string]string{"panic": "oh dear", "goexit": "ended its goroutine", "nil": ""} {
			if name == "Config.Dial" && kind == "nil" {
				want = "returned neither a connection nor an error"
			}
			t.Run(name+"/"+kind, func(t *testing.T) {
				bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
					log, config := logged()
					m := &misbehaviour{kind: kind}
					said := misuse(t, w, m, config)
					synctest.Wait()
					if m.calls.Load() == 0 {
						t.Fatal("it was not called")
					}
					if all := said + log.String(); !strings.Contains(all, want) {
						t.Errorf("nothing says %q:\n%s", want, all)
					}
				})
			})
		}
	}
}

// ownShard has a member with a listener own a shard until its Run has ended, and returns Run's error.
func ownShard(t *testing.T, n *node, l incumbent.ShardListener) string {
	s := must(n.Shards("/group", 1, incumbent.ShardsOptions{}))
	s.AddListener(l)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- s.Run(ctx, func(s *incumbent.Shard) error { <-s.Context().Done(); return nil })
	}()
	pass(time.Second)
	if owned := s.Owned(); len(owned) != 1 {
		t.Errorf("it owns %d", owned)
	}
	cancel()
	return fmt.Sprint(<-ended)
}
