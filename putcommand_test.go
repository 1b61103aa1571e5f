package incumbent

import (
	"maps"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// The command of a put has the number of its items and of their bytes, next to its own options, which stay as they are.
func TestPutCommandsCountItemsAndBytes(t *testing.T) {
	options := map[string]string{"priority": "3"}
	for _, c := range []struct {
		nodes        [][]byte
		items, bytes string
	}{
		{[][]byte{[]byte("abc"), []byte("de"), nil}, "3", "5"},
		{[][]byte{nil}, "1", "0"},
	} {
		got := putCommand(7, c.nodes, options)
		want := map[string]string{"priority": "3", "items": c.items, "bytes": c.bytes}
		if got.Kind != events.CommandPut || got.Work != 7 || !maps.Equal(got.Options, want) {
			t.Errorf("%+v, want the options %v", got, want)
		}
	}
	if len(options) != 1 {
		t.Errorf("the options were changed: %v", options)
	}
}
