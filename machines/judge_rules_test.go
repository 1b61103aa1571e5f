package machines

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// rule is a promise of a recipe, as the judge says that a machine broke it.
type rule string

// checker holds one machine against the rules of its recipe, by nothing but what the machine is sent and what it sends.
type checker interface {
	record(j *judge, r events.Record) // the requests of the record are not among j.asked yet
	rest(j *judge, id events.ID)      // after each step
}

// bugs break one rule, each in some golden trace.
type bugs map[string]mutate.Mutation

// ruleSet has the rules of one recipe with the bugs that break them, and the checker of a new machine.
type ruleSet struct {
	begin func(open events.Event) checker
	rules map[rule]bugs
}

// ruleSets are those of the recipes whose machines are not in a line, from hasRules.
var ruleSets = map[string]ruleSet{}

// hasRules gives a recipe its rules, in the file that has them.
func hasRules(recipe string, begin func(open events.Event) checker, rules map[rule]bugs) {
	ruleSets[recipe] = ruleSet{begin, rules}
}

// inLine are the recipes whose machines the judge holds against its rules of leadership, by their models.
var inLine = []string{"session", "latch", "selector", "mutex", "readwrite", "semaphore", "election", "jobelection",
	"nodeelection"}

// withoutRules are the recipes of which the judge only knows that something can wake them, and that each command is
// answered once.
var withoutRules = []string{"jobdealer", "persistent", "jobworker", "shards", "leftover"}

// TestEveryRecipeHasRules checks that a new recipe is not left without rules by chance.
func TestEveryRecipeHasRules(t *testing.T) {
	known := slices.Concat(inLine, withoutRules, slices.Collect(maps.Keys(ruleSets)))
	var all []string
	for _, r := range Recipes() {
		all = append(all, r.Name())
	}
	slices.Sort(known)
	if slices.Sort(all); !slices.Equal(all, known) {
		t.Errorf("the recipes are %v, and the judge has rules for %v", all, known)
	}
}

// checkRules gives a record to the checker of its machine.
func (j *judge) checkRules(r events.Record) {
	if r.Event.Kind == events.CommandOpen {
		delete(j.checkers, r.Machine)
		if set, ok := ruleSets[r.Event.Recipe]; ok && r.Row != events.RowRefused {
			j.checkers[r.Machine] = set.begin(r.Event)
		}
	} else if c := j.checkers[r.Machine]; c != nil {
		c.record(j, r)
	}
}

// breaks says that a machine breaks a rule.
func (j *judge) breaks(broken rule, id events.ID, format string, args ...any) {
	j.wrong("%s: %s: "+format, append([]any{id, broken}, args...)...)
}

// atAnyRest is part of checkers without a rule for machines at rest.
type atAnyRest struct{}

func (atAnyRest) rest(*judge, events.ID) {}

// optionNumber returns an option that is a number, 0 for none.
func optionNumber(options map[string]string, name string) int64 {
	n, _ := strconv.ParseInt(options[name], 10, 64)
	return n
}

func always(any, events.Event, func(events.Event) bool) bool { return true }
func never(any, events.Event, func(events.Event) bool) bool  { return false }

// doingFirst returns an action that changes the model, or the event, ahead of the real one.
func doingFirst[M any](name string, change func(*M, *events.Event)) mutate.Mutation {
	return doing(name, func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
		change(model.(*M), &ev)
		do(ev)
	})
}

// doingThen returns an action that changes the model behind the real one.
func doingThen[M any](name string, change func(*M, *engine.Outbox)) mutate.Mutation {
	return doing(name, func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
		do(ev)
		change(model.(*M), out)
	})
}

// holdingIf returns guards that hold as a function of the model says.
func holdingIf[M any](holds func(*M) bool, names ...string) mutate.Mutation {
	return guarded(func(model any, _ events.Event, _ func(events.Event) bool) bool {
		return holds(model.(*M))
	}, names...)
}

// skipping returns an action that does nothing.
func skipping(name string) mutate.Mutation {
	return doing(name, func(any, events.Event, *engine.Outbox, func(events.Event)) {})
}

// TestTracesBreakEachRule plays the golden traces with planted bugs and without their golden texts: each rule of the
// judge is broken by each of its bugs, so none holds by itself.
func TestTracesBreakEachRule(t *testing.T) {
	for recipe, set := range ruleSets {
		for broken, bugs := range set.rules {
			if len(bugs) == 0 {
				t.Errorf("no bug breaks %q of %s", broken, recipe)
			}
			for name, bug := range bugs {
				t.Run(recipe+"/"+name, func(t *testing.T) {
					p := &plant{recipes: []string{recipe}, mutation: bug}
					if !slices.ContainsFunc(tracesOf(t, recipe), func(path string) bool {
						return strings.Contains(playPlanted(t, path, p), ": "+string(broken)+": ")
					}) {
						t.Errorf("no trace of %s breaks %q", recipe, broken)
					}
				})
			}
		}
	}
}

// tracesOf returns the traces of a recipe.
func tracesOf(t *testing.T, recipe string) []string {
	of := func(path string) string { return filepath.Base(filepath.Dir(path)) }
	return slices.DeleteFunc(traces(t), func(path string) bool { return of(path) != recipe })
}

// playPlanted plays a trace with a bug in the machines, to the end or until the bug makes a machine panic, and returns
// what the judge says.
func playPlanted(t *testing.T, path string, p *plant) string {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := newConversation(t, newCoverage())
	c.judge = newJudge(p)
	panicked := false
	play := func(d *datadriven.TestData) {
		defer func() { panicked = recover() != nil }()
		c.say(nil, d) // what the judge says is kept, and the trace goes on
	}
	datadriven.RunTestFromString(t, string(b), func(t *testing.T, d *datadriven.TestData) string {
		if !panicked {
			play(d)
		}
		return d.Expected
	})
	return strings.Join(c.wrongs, "\n")
}
