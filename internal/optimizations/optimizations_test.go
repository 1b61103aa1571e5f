package optimizations

import (
	"slices"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string][]Name{"": nil, "all": {IdleSyncs, OneFlight, RecursiveWatches},
		"OneFlight,IdleSyncs": {OneFlight, IdleSyncs}} {
		if got := parse(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a name that is not known is ignored")
		}
	}()
	parse("IdleSync")
}
