package door_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// makers are the functions of the door that make handles; Client's methods make all others.
var makers = map[string]any{
	"NewQueue": incumbent.NewQueue[string], "NewPriorityQueue": incumbent.NewPriorityQueue[string],
	"NewDelayQueue": incumbent.NewDelayQueue[string],
	"NewIDQueue":    incumbent.NewIDQueue[string], "NewMultiLock": incumbent.NewMultiLock,
}

func TestEveryMakerIsListed(t *testing.T) {
	sources, err := filepath.Glob("../../*.go")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, name := range sources {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func (New\w+)`).FindAllSubmatch(text, -1) {
			found = append(found, string(m[1]))
		}
	}
	slices.Sort(found)
	if want := slices.Sorted(maps.Keys(makers)); !slices.Equal(found, want) {
		t.Errorf("makers %q, want those of the door, %q", want, found)
	}
}

// handleTypes returns the exported types that a program can get of this package: the
// results of makers, and of their methods.
func handleTypes() []reflect.Type {
	types := []reflect.Type{reflect.TypeFor[incumbent.Client]()}
	add := func(f reflect.Type) {
		for _, out := range outs(f) {
			if out.Kind() == reflect.Pointer {
				out = out.Elem()
			}
			if out.Kind() == reflect.Struct && out.PkgPath() == types[0].PkgPath() && !slices.Contains(types, out) {
				types = append(types, out)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(makers)) {
		add(reflect.TypeOf(makers[name]))
	}
	for i := 0; i < len(types); i++ { // it grows
		for _, m := range methods(reflect.PointerTo(types[i])) {
			add(m.Type)
		}
	}
	return types
}

func ins(f reflect.Type) []reflect.Type       { return listed(f.NumIn(), f.In) }
func outs(f reflect.Type) []reflect.Type      { return listed(f.NumOut(), f.Out) }
func methods(t reflect.Type) []reflect.Method { return listed(t.NumMethod(), t.Method) }

func listed[T any](n int, at func(int) T) (all []T) {
	for i := range n {
		all = append(all, at(i))
	}
	return all
}

var contextType = reflect.TypeFor[context.Context]()

func takesContext(f reflect.Type) bool { return slices.Contains(ins(f), contextType) }

// arguments returns valid arguments for f, with this context.
func arguments(f reflect.Type, ctx context.Context) []reflect.Value {
	var all []reflect.Value
	texts := 0 // a path comes first
	for i, in := range ins(f) {
		arg := reflect.New(in).Elem()
		switch {
		case f.IsVariadic() && i == f.NumIn()-1:
			continue
		case in == contextType && ctx != nil:
			arg.Set(reflect.ValueOf(ctx))
		case in == reflect.TypeFor[incumbent.Participant]():
			arg.Set(reflect.ValueOf(incumbent.Participant{Path: "/a/b", Token: 1}))
		case in.Kind() == reflect.String:
			arg.SetString([]string{"/a/b", "name"}[min(texts, 1)])
			texts++
		case arg.CanInt():
			arg.SetInt(1)
		case in.Kind() == reflect.Func:
			arg.Set(reflect.MakeFunc(in, func([]reflect.Value) []reflect.Value {
				var none []reflect.Value
				for _, out := range outs(in) {
					none = append(none, reflect.Zero(out))
				}
				return none
			}))
		}
		all = append(all, arg)
	}
	return all
}

// outcome returns how a call ends: with a panic, with an error, or with neither.
func outcome(f reflect.Value, args []reflect.Value) (text string, panicked bool) {
	defer func() {
		if p := recover(); p != nil {
			text, panicked = fmt.Sprint(p), true
		}
	}()
	for _, out := range f.Call(args) {
		if err, ok := out.Interface().(error); ok {
			text = err.Error()
		}
	}
	return text, false
}

// Each method of a handle that no client made reports that: it does not hang (in a bubble
// that is a deadlock), and dereferences no nil. A method without a context that cannot do
// anything may also return.
func TestZeroHandles(t *testing.T) {
	for _, typ := range handleTypes() {
		zero := reflect.New(typ)
		for _, m := range methods(zero.Type()) {
			if m.Name == "Format" {
				continue // fmt calls it
			}
			t.Run(typ.Name()+"."+m.Name, func(t *testing.T) {
				virtual.Test(t, func(t *testing.T) {
					f := zero.Method(m.Index)
					text, panicked := outcome(f, arguments(f.Type(), t.Context()))
					switch {
					case panicked && !(strings.HasPrefix(text, "incumbent: ") && strings.Contains(text, m.Name) &&
						strings.Contains(text, "makes")):
						t.Errorf("panic: %s", text)
					case !panicked && takesContext(f.Type()) && !strings.HasPrefix(text, "incumbent: "):
						t.Errorf("it does %q", text)
					}
				})
			})
		}
	}
	for name, maker := range makers {
		text, panicked := outcome(reflect.ValueOf(maker), arguments(reflect.TypeOf(maker), nil))
		if !strings.HasPrefix(text, "incumbent: ") || panicked && !strings.Contains(text, name) {
			t.Errorf("%s without a client: %q", name, text)
		}
	}
}

// A function that is added to a handle that no client made would never be called: that panics, too.
func TestListenersOfZeroHandles(t *testing.T) {
	for _, zero := range []any{&incumbent.Latch{}, &incumbent.Selector{}, &incumbent.Election{},
		&incumbent.JobElection{}, &incumbent.NodeElection{}, &incumbent.Client{}} {
		for _, name := range []string{"AddListener", "OnConnection"} {
			f := reflect.ValueOf(zero).MethodByName(name)
			if !f.IsValid() {
				continue
			}
			text, panicked := outcome(f, arguments(f.Type(), nil))
			if !panicked || !strings.Contains(text, name+" was called on a zero value") {
				t.Errorf("%T.%s: %q", zero, name, text)
			}
		}
	}
}

// needsContext checks that a call with a nil context has panicked with a text that names it.
func needsContext(t *testing.T, f reflect.Value, typ, method string) {
	t.Helper()
	text, panicked := outcome(f, arguments(f.Type(), nil))
	if !panicked || !strings.HasPrefix(text, "incumbent: ") ||
		!strings.Contains(text, method+" needs a context: context.Background()") {
		t.Errorf("%s.%s: %q", typ, method, text)
	}
}

// Every call with a nil context panics, and has no effect: its handle goes on.
func TestNilContexts(t *testing.T) {
	listed := map[string]bool{}
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		for _, one := range waitingCalls(t, w.open().Client) {
			// Run and Flush do more there
			if typ, method, _ := strings.Cut(one.name, "."); method != "Run" && method != "Flush" {
				listed[one.name] = true
				needsContext(t, reflect.ValueOf(one.do), typ, method)
			}
		}
	})
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		handles, end := everything(t, t.Context(), w.open().Client)
		for _, typ := range handleTypes() {
			for _, m := range methods(reflect.PointerTo(typ)) {
				switch handle := handles[typ]; {
				case !takesContext(m.Type):
				case handle != nil:
					needsContext(t, reflect.ValueOf(handle).Method(m.Index), typ.Name(), m.Name)
				case !listed[typ.Name()+"."+m.Name]:
					t.Errorf("no %s is made here, which has %s", typ, m.Name)
				}
			}
		}
		end()
	})
}

// everything returns one handle of each type that has a method with a context which is not among waitingCalls, and a
// function that shows that they still work.
func everything(t *testing.T, ctx context.Context, c *incumbent.Client) (handles map[reflect.Type]any, end func()) {
	t.Helper()
	handles = map[reflect.Type]any{}
	have := func(all ...any) {
		for _, h := range all {
			handles[reflect.TypeOf(h).Elem()] = h
		}
	}
	latch, mutex, locks := must(c.Latch("/latch", incumbent.LatchOptions{})), must(c.Mutex("/mutex",
		incumbent.MutexOptions{})), must(c.ReadWriteLock("/rw", incumbent.MutexOptions{}))
	fails(t, latch.Start())
	leads, hold, write := must(latch.Await(ctx)), must(mutex.Lock(ctx)), must(locks.Lock(ctx))
	multi := must(incumbent.NewMultiLock(must(c.Mutex("/other", incumbent.MutexOptions{}))))
	both := must(multi.Lock(ctx))
	holder, reader := must(c.Mutex("/held", incumbent.MutexOptions{})).Holder(), must(c.ReadWriteLock("/held",
		incumbent.MutexOptions{})).Holder()
	queue, byID := must(incumbent.NewQueue(c, "/q", incumbent.QueueOptions[string]{})), must(incumbent.NewIDQueue(c,
		"/i", incumbent.QueueOptions[string]{}))
	slot := byID.ID("a")
	deletion := must(c.Delete("/nobody").Guaranteed())
	have(c, latch, mutex, locks, leads, hold, write, multi, both, holder, reader, queue, byID, &slot, deletion,
		must(incumbent.NewPriorityQueue(c, "/p", incumbent.QueueOptions[string]{})), must(incumbent.NewDelayQueue(c,
			"/d", incumbent.QueueOptions[string]{})),
		must(queue.AtMostOnce(func(context.Context, incumbent.Delivery[string]) {}, incumbent.ConsumerOptions{})),
		must(c.Selector("/s", func(*incumbent.Leadership) error { return nil },
			incumbent.SelectorOptions{})), must(c.Election("/e", "n_", incumbent.LatchOptions{})),
		must(c.NodeElection("/active", incumbent.NodeElectionOptions{})),
		must(c.Shards("/group", 1, incumbent.ShardsOptions{})),
		must(c.JobElection("/job", incumbent.JobElectionOptions{})), must(c.Job("/items", incumbent.JobOptions{})),
		must(c.DoubleBarrier("/bb", 1, incumbent.DoubleBarrierOptions{})), must(c.PersistentNode("/n", nil,
			incumbent.PersistentNodeOptions{})),
		must(c.Membership("/m", "a", nil, incumbent.PersistentNodeOptions{})), must(c.TreeCache("/t",
			incumbent.TreeCacheOptions{})),
		must(c.SharedCount("/c", 0)),
		c.Get("/"), c.Exists("/"), c.Children("/"), c.Sync("/"), c.Multi(incumbent.CreateNode("/x", nil)), c.Set("/",
			nil), c.Delete("/x"), c.Create("/x", nil))
	return handles, func() {
		fails(t, leads.Check())
		leads.Release()
		fails(t, hold.Unlock(ctx))
		fails(t, write.Unlock(ctx))
		fails(t, both.Unlock(ctx))
		must(holder.Lock(ctx))
		fails(t, holder.Unlock(ctx))
		must(reader.RLock(ctx))
		fails(t, reader.RUnlock(ctx))
		fails(t, queue.Put(ctx, "item"))
		fails(t, deletion.Wait(ctx))
		fails(t, latch.Close(ctx))
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func fails(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// Every time, number and policy of every options type is refused if it is below zero, by
// its name, unless its field says what that means.
func TestOptionsBelowZero(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		c := w.open()
		queue := must(incumbent.NewQueue(c.Client, "/q", incumbent.QueueOptions[string]{}))
		var calls []reflect.Value
		for _, on := range []any{c.Client, queue} {
			for _, m := range methods(reflect.TypeOf(on)) {
				calls = append(calls, reflect.ValueOf(on).Method(m.Index))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(makers)) {
			calls = append(calls, reflect.ValueOf(makers[name]))
		}
		tried := map[string]bool{}
		for _, f := range calls {
			for i, in := range ins(f.Type()) {
				if name, _, _ := strings.Cut(in.Name(), "["); strings.HasSuffix(name, "Options") {
					belowZero(t, in, func(field string, options reflect.Value) {
						tried[in.Name()] = true
						args := arguments(f.Type(), t.Context())
						if args[0].Type() == reflect.TypeFor[*incumbent.Client]() {
							args[0] = reflect.ValueOf(c.Client)
						}
						args[i] = options
						if text, panicked := outcome(f, args); panicked || !strings.HasPrefix(text, "incumbent: ") ||
							!strings.Contains(text, field) {
							t.Errorf("%s of %s below zero: %q", field, in, text)
						}
					})
				}
			}
		}
		if len(tried) < 10 {
			t.Errorf("only %v were tried", tried)
		}
	})
}

// belowZero calls try with options that have one field below zero, for each.
func belowZero(t *testing.T, typ reflect.Type, try func(field string, options reflect.Value)) {
	t.Helper()
	for _, field := range reflect.VisibleFields(typ) {
		var wrong []any
		switch kind := field.Type.Kind(); {
		case !field.IsExported() || field.Tag.Get("negative") != "":
		case field.Type == reflect.TypeFor[incumbent.RetryPolicy]():
			wrong = []any{incumbent.RetryNTimes(-1, 0), incumbent.RetryForever(-1),
				incumbent.RetryUntilElapsed(-time.Second, 0), incumbent.RetryExponential(1, -1),
				incumbent.RetryBoundedExponential(1, -1, 0), incumbent.RetryBoundedExponential(1, 1, -1)}
		case kind >= reflect.Int && kind <= reflect.Int64:
			wrong = []any{reflect.ValueOf(int64(-1)).Convert(field.Type).Interface()}
		}
		for _, value := range wrong {
			options := reflect.New(typ).Elem()
			options.FieldByIndex(field.Index).Set(reflect.ValueOf(value))
			try(field.Name, options)
		}
	}
}

func TestConfigBelowZero(t *testing.T) {
	belowZero(t, reflect.TypeFor[incumbent.Config](), func(field string, config reflect.Value) {
		config.FieldByName("Servers").SetString("127.0.0.1:1")
		_, err := incumbent.Open(t.Context(), config.Interface().(incumbent.Config))
		if err == nil || !strings.HasPrefix(err.Error(), "incumbent: Config."+field) {
			t.Errorf("%s below zero: %v", field, err)
		}
	})
}

// A nil function, a zero participant or a wrong address is refused immediately, with a
// text.
func TestNobodyAndNothing(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		c := w.open()
		mutex := must(c.Mutex("/m", incumbent.MutexOptions{}))
		for name, err := range map[string]error{"Evict": c.Evict(t.Context(), incumbent.Participant{}),
			"Revoke": mutex.Revoke(t.Context(), incumbent.Participant{})} {
			if err == nil || !strings.Contains(err.Error(), "has no path or no token: want one that Line") {
				t.Errorf("%s of nobody: %v", name, err)
			}
		}
		for name, call := range map[string]any{
			"OnConnection": c.OnConnection, "Background": c.Get("/").Background,
			"ExecuteInLeader": must(c.JobElection("/j", incumbent.JobElectionOptions{})).ExecuteInLeader,
			"Latch.Run":       must(c.Latch("/l", incumbent.LatchOptions{})).Run,
		} {
			f := reflect.ValueOf(call)
			args := arguments(f.Type(), t.Context())
			args[len(args)-1] = reflect.Zero(args[len(args)-1].Type()) // the function
			text, panicked := outcome(f, args)
			if !panicked || !strings.HasPrefix(text, "incumbent: ") ||
				!strings.Contains(text, name+" needs a function") {
				t.Errorf("%s without a function: %q", name, text)
			}
		}
		// nil functions are skipped
		remove := must(c.Latch("/l", incumbent.LatchOptions{})).AddListener(incumbent.Listener{})
		remove()
	})
	_, err := incumbent.Open(t.Context(), incumbent.Config{Servers: "zk://a:1"})
	if err == nil || !strings.Contains(err.Error(),
		`Config.Servers: servers "zk://a:1": there is no scheme in a connect string: want "a:1"`) {
		t.Error(err)
	}
}
