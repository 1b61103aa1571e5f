package door_test

import (
	"reflect"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/internal/optimizations"
)

// What make plain and make combinations turn off are the fields of Config.Disable.
func TestEveryOptimizationHasASwitch(t *testing.T) {
	fields, names := reflect.TypeFor[incumbent.Optimizations](), optimizations.All()
	if fields.NumField() != len(names) {
		t.Fatalf("%d fields, and the names %q", fields.NumField(), names)
	}
	for i, name := range names {
		if field := fields.Field(i).Name; field != string(name) {
			t.Errorf("the field %s has the name %s", field, name)
		}
	}
}
