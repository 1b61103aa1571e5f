package machines

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

func TestOptions(t *testing.T) {
	o := options{values: map[string]string{"d": "3s", "i": "7", "n": "-9", "f": "true", "p": "forever/-1/1s/0s"}}
	if o.duration("d", 0) != 3*time.Second || o.integer("i", 0) != 7 || o.number("n") != -9 || !o.flag("f") ||
		o.policy("p", Policy{}) != Forever(time.Second) || o.err != nil {
		t.Errorf("%+v", o)
	}
	if o.duration("x", time.Hour) != time.Hour || o.integer("x", 5) != 5 || o.number("x") != 0 || o.flag("x") ||
		o.policy("x", Once(1)) != Once(1) || o.err != nil {
		t.Errorf("what is not given is not the fallback: %v", o.err)
	}
}

// TestOptionsKeepTheFirstError: a machine that cannot be made says which option
// is wrong, and how it was written.
func TestOptionsKeepTheFirstError(t *testing.T) {
	for name, bad := range map[string]string{"tokenFloor": "many", "rideOut": "perhaps", "retry": "often"} {
		_, err := newLatch(events.Event{Options: map[string]string{name: bad}})
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s=%s: %v", name, bad, err)
		}
	}
	for name, bad := range map[string]string{"tick": "soon", "tickAssumed": "perhaps", "askedTimeout": "long",
		"syncLimit": "some", "rideOut": "perhaps", "retry": "often"} {
		if _, err := newSession(events.Event{Options: map[string]string{name: bad}}); err == nil ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%s=%s: %v", name, bad, err)
		}
	}
	if _, err := newSelector(events.Event{Options: map[string]string{"autoRequeue": "perhaps"}}); err == nil {
		t.Error("autoRequeue=perhaps was taken")
	}
	o := options{values: map[string]string{"a": "x", "b": "y"}}
	o.integer("a", 0)
	o.integer("b", 0)
	if o.err == nil || !strings.Contains(o.err.Error(), `a="x"`) {
		t.Errorf("the first error is not kept: %v", o.err)
	}
}

// The options that several recipes read.
var (
	pacedOptions     = []string{OptionRetry, OptionNoJitter}
	contenderOptions = append(slices.Clone(pacedOptions), OptionOpener, OptionTokenFloor, OptionRideOut,
		OptionHealthFailures)
	flightOptions = []string{OptionOneFlight}
	placeOptions  = slices.Concat(contenderOptions, flightOptions, []string{OptionRoot, OptionAddress})
)

// optionsByRecipe are the options that recipes read. Those that are not here read pacedOptions.
var optionsByRecipe = map[string][]string{
	"session": append(slices.Clone(pacedOptions), OptionTick, OptionTickAssumed, OptionAskedTimeout, OptionSyncLimit,
		OptionObserverMasters, OptionRideOut, OptionPersistentParents, OptionIdleFor),
	"latch":     append(slices.Clone(placeOptions), OptionLabel, OptionUnwatched),
	"selector":  append(slices.Clone(placeOptions), OptionAutoRequeue),
	"election":  append(slices.Clone(placeOptions), OptionPrefix),
	"mutex":     append(slices.Clone(placeOptions), OptionTry, OptionRevocable, OptionKazoo, OptionPrefix),
	"readwrite": append(slices.Clone(placeOptions), OptionTry, OptionRevocable, OptionKazoo, OptionReads),
	"semaphore": slices.Concat(contenderOptions, flightOptions, []string{OptionTry, OptionKazoo, OptionLimit,
		OptionPermits}),
	"jobelection":  slices.Concat(contenderOptions, flightOptions, []string{OptionServer, OptionDeals}),
	"nodeelection": append(slices.Clone(contenderOptions), OptionCrumb, OptionEpoch, OptionFenceTimeout),
	"jobdealer":    append(slices.Clone(pacedOptions), OptionOpener, OptionServer, OptionInstance, OptionDeals),
	"jobworker": slices.Concat(pacedOptions, flightOptions, []string{OptionRideOut, OptionInstance, OptionIP,
		OptionConfig}),
	"shards": slices.Concat(pacedOptions, flightOptions, []string{OptionRideOut, OptionHealthFailures, OptionShards,
		OptionSettle, OptionInstance, OptionWeight, OptionMaxOwned}),
	"leaderwatch":   append(slices.Clone(pacedOptions), OptionLabel, OptionShared),
	"membership":    append(slices.Clone(pacedOptions), OptionView),
	"nodewatch":     append(slices.Clone(pacedOptions), OptionView),
	"doublebarrier": append(slices.Clone(pacedOptions), OptionQuantity),
	"request": append(slices.Clone(pacedOptions), OptionMulti, OptionParents, OptionPersistentParents,
		OptionProtected, OptionOrCreate, OptionToken,
		OptionLocks, OptionID),
	"producer": append(slices.Clone(pacedOptions), OptionKind, OptionBound, OptionWaits, OptionProducers),
	"consumer": append(slices.Clone(pacedOptions), OptionKind, OptionProducers, OptionOnce, OptionLocks, OptionDead,
		OptionTries, OptionRefresh, OptionBackoff),
	"treecache": append(slices.Clone(pacedOptions), OptionOpener, OptionDepth, OptionMost, OptionRecursive),
	"number": append(slices.Clone(pacedOptions), OptionTask, OptionWidth, OptionOperand, OptionExpected, OptionSeed,
		OptionTries),
	"leftover": {OptionGUID, OptionPermits, OptionLasting, OptionName, OptionAddress, OptionPrefix, OptionAfter,
		OptionAbove},
}

// putOptions are those of command.put, by the kind of the queue.
var putOptions = map[ItemKind][]string{FIFO: nil, ByPriority: {OptionPriority}, ByDue: {OptionDelay, OptionDue},
	ByID: {OptionID}}

// optionNames returns the names of all options: those of the constants in optionnames.go.
func optionNames(t *testing.T) (names []string) {
	tree, err := parser.ParseFile(token.NewFileSet(), "optionnames.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			name, _ := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if constant := spec.Names[0].Name; !strings.EqualFold(constant, "Option"+name) {
				t.Errorf("the option %q is called %s", name, constant)
			}
			names = append(names, name)
		}
		return true
	})
	return names
}

// sample returns a value that an option can have.
func sample(name string) string {
	switch name {
	case OptionRetry, OptionBackoff:
		return "forever/-1/1s/0s"
	case OptionTick, OptionAskedTimeout, OptionFenceTimeout, OptionSettle, OptionDelay:
		return "1s"
	case OptionKind:
		return string(FIFO)
	case OptionTask:
		return NumberAdd
	}
	return "1"
}

// opened opens a machine with options, and returns why it refused, "" if it did not.
func opened(t *testing.T, recipe engine.Recipe, options map[string]string) string {
	t.Helper()
	open := events.Event{Kind: events.CommandOpen, Recipe: recipe.Name(), Path: "/a/b", Seed: "x", Options: options,
		Ops: []events.Op{{Verb: "get", Path: "/a/b"}}}
	if recipe.Name() == "doublebarrier" && options[OptionQuantity] == "" {
		open.Options = maps.Clone(options)
		open.Options[OptionQuantity] = "1"
	}
	id := events.ID(recipe.Name() + "-1")
	e := engine.New(true, Recipes()...)
	effects := e.Step(events.Envelope{To: id, Event: open})
	if e.State(id) != "" && len(effects) == 0 {
		return ""
	}
	a, ok := effects[0].Effect.(events.Answer)
	if !ok || a.Code != events.NotOpened || e.State(id) != "" || e.Records()[0].Row != events.RowRefused {
		t.Fatalf("%s with %v: %v in state %q", recipe.Name(), options, effects, e.State(id))
	}
	return a.Text
}

// A machine reads each option that its recipe has, and refuses to open with any other: its text names both.
func TestRecipesRefuseOtherOptions(t *testing.T) {
	names, read := append(optionNames(t), "rideout"), map[string]bool{"rideout": true}
	for _, r := range Recipes() {
		taken, more := optionsByRecipe[r.Name()]
		if !more {
			taken = pacedOptions
		}
		for _, name := range names {
			why, takes := opened(t, r, map[string]string{name: sample(name)}), slices.Contains(taken, name)
			read[name] = read[name] || takes
			switch want := "a " + r.Name() + " has no option \"" + name + "\""; {
			case takes && why != "":
				t.Errorf("%s: %s", r.Name(), why)
			case !takes && why != want:
				t.Errorf("%s with the option %s: %q, want %q", r.Name(), name, why, want)
			}
		}
	}
	for kind, taken := range putOptions {
		taken = append(taken, OptionItems, OptionBytes)
		for _, name := range names {
			_, err := (&producer{kind: kind}).batch(events.Event{Options: map[string]string{name: sample(name)}})
			takes := slices.Contains(taken, name)
			if read[name] = read[name] || takes; takes != (err == nil) {
				t.Errorf("a put into %s with the option %s: %v", kind, name, err)
			}
		}
	}
	for _, name := range names {
		if !read[name] {
			t.Errorf("nothing reads the option %s", name)
		}
	}
}

// A log in which a machine was refused is replayed to the same records.
func TestARefusalIsReplayed(t *testing.T) {
	e := engine.New(true, Recipes()...)
	var log []events.Record
	step := func(id events.ID, ev events.Event) {
		e.Step(events.Envelope{To: id, Event: ev})
		log = append(log, slices.Clone(e.Records())...)
	}
	step("latch-1", events.Event{Kind: events.CommandOpen, Recipe: "latch", Path: "/l", Seed: "x",
		Options: map[string]string{"rideout": "true"}})
	step("latch-1", events.Event{Kind: events.CommandStart, Request: 1})
	if rows := []string{log[0].Row, log[1].Row}; !slices.Equal(rows, []string{events.RowRefused, events.RowUnknown}) {
		t.Fatalf("the rows are %v", rows)
	}
	next := func() (r events.Record, err error) {
		if len(log) == 0 {
			return r, io.EOF
		}
		r, log = log[0], log[1:]
		return r, nil
	}
	if sum, err := engine.ReplayRecords(next, 0, Recipes()...); err != nil || sum.Records != 2 {
		t.Errorf("%+v, %v", sum, err)
	}
}
