package queues

import (
	"fmt"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/machines"
)

// What a listing takes for each name decides how many items a queue may have:
// docs/queues.md has these numbers.
func TestListingsHaveALimit(t *testing.T) {
	for _, q := range []struct {
		kind  machines.ItemKind
		name  string
		bytes int
	}{
		{machines.FIFO, "queue-0000000007", 20},
		{machines.ByPriority, "queue-1000000050000000007", 29},
		{machines.ByDue, "queue-|18BCFE56800|0000000007", 33},
		{machines.ByID, fmt.Sprintf("queue-|%s|0000000007", strings.Repeat("x", 36)), 58},
	} {
		if _, ok := q.kind.Parse(q.name); !ok {
			t.Errorf("%s is no item of a queue by %s", q.name, q.kind)
		}
		each := 4 + len(q.name)
		t.Logf("%-9s %d bytes for each item: %d up to 1 MB, %d up to 4 MiB", q.kind, each, (1<<20-1)/each, 4<<20/each)
		if each != q.bytes {
			t.Errorf("%d bytes, and docs/queues.md says %d", each, q.bytes)
		}
	}
}
