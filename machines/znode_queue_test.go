package machines

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/repeat"
)

// itemOrders are names in the right order, for each kind of queue.
var itemOrders = map[ItemKind][]string{
	FIFO: {"queue-0000000000", "queue-0000000009", "queue-0000000010", "queue-2147483647", "queue--2147483648",
		"queue--1000000000"},
	ByPriority: {"queue-0800000000000000003", "queue-0FFFFFFFF0000000002", "queue-1000000000000000001",
		"queue-1000000050000000007", "queue-1000000050000000008", "queue-17FFFFFFF0000000000"},
	ByDue: {"queue-|00000005|0000000004", "queue-|00000010|0000000003", "queue-|18BCFE56800|0000000001",
		"queue-|18BCFE56800|0000000002", "queue-|7FFFFFFFFFFFFFFF|0000000000"},
	ByID: {"queue-|b|0000000001", "queue-|a|0000000002", "queue-||0000000003", "queue-|a b|0000000010"},
}

// foreignItems are names that belong to no queue of the kind.
var foreignItems = map[ItemKind][]string{
	FIFO: {"", "queue", "queue-", "queue-000000001", "queue-00000000001", "queue-+000000001", "queue--0000000001",
		"queue-2147483648", "Queue-0000000001", "queue-|a|0000000001", "queue-1000000050000000007", "lock-0000000001"},
	ByPriority: {"queue-0000000001", "queue-00000000", "queue-1000000gg0000000001", "queue-0000000050000000001",
		"queue-1FFFFFFFF0000000001", "queue-10000000A000000001", "queue-10000000a0000000001",
		"queue-2000000050000000001"},
	ByDue: {"queue-0000000001", "queue-|18bcfe56800|0000000001", "queue-|5|0000000001", "queue-|-0000001|0000000001",
		"queue-|+0000001|0000000001", "queue-|FFFFFFFFFFFFFFFF|0000000001", "queue-||0000000001",
		"queue-|00000005|1|0000000001", "queue-x|00000005|0000000001"},
	ByID: {"queue-0000000001", "queue-|a0000000001", "queue-|a|b|0000000001", "queue-a|b|0000000001", "queue-|a|1"},
}

func TestItemsKeepTheirOrder(t *testing.T) {
	dice := rand.New(rand.NewPCG(repeat.Seed(t, 1), 0))
	for kind, want := range itemOrders {
		for range 20 {
			names := append(slices.Clone(want), foreignItems[kind]...)
			dice.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
			items, foreign := kind.Backlog(names)
			var got []string
			for _, i := range items {
				got = append(got, i.Name)
			}
			if !slices.Equal(got, want) || foreign != len(foreignItems[kind]) {
				t.Fatalf("%s: %q and %d others, want %q", kind, got, foreign, want)
			}
		}
	}
}

// A consumer parses the names that a producer creates.
func TestItemsAreTakenApart(t *testing.T) {
	for _, rank := range []int64{0, 1, -1, 1<<31 - 1, -1 << 31, 1_700_000_000_000, 1<<63 - 1} {
		for _, kind := range []ItemKind{FIFO, ByPriority, ByDue, ByID} {
			if kind == ByPriority && rank != int64(int32(rank)) || kind == ByDue && rank < 0 {
				continue
			}
			name := fmt.Sprintf("%s%010d", kind.namePrefix(rank, "a/b|c"), 7)
			i, ok := kind.Parse(name)
			if !ok || i.Sequence != 7 || i.NamePrefix != kind.namePrefix(rank, "a/b|c") ||
				(kind == ByPriority || kind == ByDue) && i.Rank != rank || kind == ByID && i.ID != "a_b_c" {
				t.Errorf("%s: %q is %+v, %v", kind, name, i, ok)
			}
		}
	}
}

// What a listing takes for each name decides how many items a queue may have:
// docs/recipes.md has these numbers.
func TestListingsHaveALimit(t *testing.T) {
	for _, q := range []struct {
		kind  ItemKind
		rank  int64
		bytes int
	}{
		{FIFO, 0, 20},
		{ByPriority, 5, 29},
		{ByDue, 1_700_000_000_000, 33},
		{ByID, 0, 58},
	} {
		name := fmt.Sprintf("%s%010d", q.kind.namePrefix(q.rank, strings.Repeat("x", 36)), 7)
		each := 4 + len(name)
		t.Logf("%-9s %d bytes for each item: %d up to 1 MB, %d up to 4 MiB", q.kind, each, (1<<20-1)/each, 4<<20/each)
		if each != q.bytes {
			t.Errorf("%s takes %d bytes, and docs/recipes.md says %d", name, each, q.bytes)
		}
	}
}
