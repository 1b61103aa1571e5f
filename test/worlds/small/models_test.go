package small

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/incumbent-go/incumbent/machines"
)

// A field that gets another name, or goes to another part, is written as it is until it is listed by that: a time or a
// counter in it would make each state a new one.
func TestEachListedFieldIsInAModel(t *testing.T) {
	met := map[string]bool{}
	for _, open := range []any{machines.SessionRecipe.Open, machines.LatchRecipe.Open, machines.ShardsRecipe.Open} {
		collect(reflect.TypeOf(open).Out(0), met)
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if !met[key] {
			t.Errorf("no model has %s: list the field that is in its place", key)
		}
	}
}

// collect notes the fields of a type, and of the types in it.
func collect(t reflect.Type, met map[string]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		collect(t.Elem(), met)
	case reflect.Struct:
		for i := range t.NumField() {
			key := t.Name() + "." + t.Field(i).Name
			if met[key] {
				continue
			}
			met[key] = true
			collect(t.Field(i).Type, met)
		}
	}
}
