package sim

import (
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// A planted bug in a chart may need fields that machines do not export. This file gets
// at them by their names. A field that is missing is a panic, so that no plant becomes
// harmless unnoticed.

// field returns a model's field, to be read and set.
func field[T any](model any, name string) *T {
	v := reflect.ValueOf(model).Elem().FieldByName(name)
	if !v.IsValid() || v.Type() != reflect.TypeFor[T]() {
		panic(fmt.Sprintf("sim: %T has no %s of type %s to tamper with", model, name, reflect.TypeFor[T]()))
	}
	return (*T)(unsafe.Pointer(v.UnsafeAddr()))
}

// behind returns the pointer in a model's field; nil if that is nil.
func behind(model any, name string) any {
	v := reflect.ValueOf(model).Elem().FieldByName(name)
	if !v.IsValid() || v.Kind() != reflect.Pointer {
		panic(fmt.Sprintf("sim: %T has no pointer %s to tamper with", model, name))
	}
	if v.IsNil() {
		return nil
	}
	return reflect.NewAt(v.Type().Elem(), v.UnsafePointer()).Interface()
}

// embedded saves a part of a model, and returns a function that restores it.
func embedded(model any, name string) (restore func()) {
	v := reflect.ValueOf(model).Elem().FieldByName(name)
	if !v.IsValid() || v.Kind() != reflect.Struct {
		panic(fmt.Sprintf("sim: %T has no part %s to tamper with", model, name))
	}
	v = reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
	kept := reflect.New(v.Type()).Elem()
	kept.Set(v)
	return func() { v.Set(kept) }
}

type (
	guarding = func(model any, ev events.Event, holds func(events.Event) bool) bool
	acting   = func(model any, ev events.Event, out *engine.Outbox, do func(events.Event))
)

// inLines plants the same mutation in the latch and the selector.
func inLines(plant func() mutate.Mutation) func() map[string]mutate.Mutation {
	return func() map[string]mutate.Mutation {
		all := map[string]mutate.Mutation{}
		for _, recipe := range []string{"latch", "selector"} {
			all[recipe] = plant()
		}
		return all
	}
}

// inOne plants a mutation in one recipe.
func inOne(recipe string, plant func() mutate.Mutation) func() map[string]mutate.Mutation {
	return func() map[string]mutate.Mutation { return map[string]mutate.Mutation{recipe: plant()} }
}

// withFlags returns a guard that is evaluated as if some flags of the model were set.
func withFlags(flags ...string) guarding {
	return func(model any, ev events.Event, holds func(events.Event) bool) bool {
		for _, name := range flags {
			flag := field[bool](model, name)
			was := *flag
			*flag = true
			defer func() { *flag = was }()
		}
		return holds(ev)
	}
}

// ownPath returns a participant's node, "" for none.
func ownPath(model any) string { return *field[string](model, "ownPath") }

// ownName returns the name of a participant's node, "" for none.
func ownName(model any) string { return ownPath(model)[strings.LastIndexByte(ownPath(model), '/')+1:] }

// withoutFloor is a guard that is evaluated as if no token were too low.
func withoutFloor(model any, ev events.Event, holds func(events.Event) bool) bool {
	if extras := behind(model, "extras"); extras != nil {
		floor := field[int64](extras, "tokenFloor")
		was := *floor
		*floor = 0
		defer func() { *floor = was }()
	}
	return holds(ev)
}

// wrongPlant reports whether what a world has panicked with says that a plant does not fit the machines any more.
func wrongPlant(panicked any) bool {
	text, is := panicked.(string)
	return is && (strings.HasPrefix(text, "sim: ") || strings.HasPrefix(text, "mutate: "))
}

// ahead returns the places before a participant in a listing, ties included.
func ahead(model any, children []string) (all []machines.Place, tied bool) {
	own, label := ownName(model), *field[string](model, "label")
	self, _ := machines.ParsePlace(own, label)
	line, _ := machines.Line(children, label)
	for _, p := range line {
		if p.Name != own && p.Sequence <= self.Sequence {
			all = append(all, p)
			tied = tied || p.Sequence == self.Sequence
		}
	}
	return all, tied
}

// without returns a listing without some names.
func without(names []string, out func(name string) bool) (kept []string) {
	for _, name := range names {
		if !out(name) {
			kept = append(kept, name)
		}
	}
	return kept
}

// isOf reports whether a node has the name of a recipe's handle.
func (w *harness) isOf(recipe, path string) bool {
	_, id, _ := strings.Cut(string(w.data(path)), "/")
	return strings.HasPrefix(id, recipe+"-")
}

// slice returns a model's field that is a slice, to be read and set.
func slice(model any, name string) reflect.Value {
	v := reflect.ValueOf(model).Elem().FieldByName(name)
	if !v.IsValid() || v.Kind() != reflect.Slice {
		panic(fmt.Sprintf("sim: %T has no list %s to tamper with", model, name))
	}
	return reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
}

func length(model any, name string) int { return slice(model, name).Len() }

// shorten keeps the elements of such a field from one index to another.
func shorten(model any, name string, from, to int) {
	list := slice(model, name)
	if to = min(to, list.Len()); from <= to {
		list.Set(list.Slice(from, to))
	}
}
