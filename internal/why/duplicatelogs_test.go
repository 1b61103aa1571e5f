package why

import (
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// Of two logs of one client the longer is kept, and the other one says whether it has what that has not.
func TestALogThatIsLeftOut(t *testing.T) {
	part := func(from, to int) *Log {
		c := newCrafted(1, 100)
		for at := range int64(10) {
			c.write(50+at, 110+at, 120+at)
		}
		l, err := Read("a", events.Header{Run: "one"}, &each{c.records[from:to]})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	whole := part(2, 9)
	for _, c := range []struct {
		other       *Log
		unexplained bool
	}{{part(2, 9), false}, {part(4, 7), false}, {part(0, 4), true}, {part(8, 12), true}, {part(9, 11), true}} {
		for _, logs := range [][]*Log{{whole, c.other}, {c.other, whole}} {
			kept, left := LeaveOutDuplicates(logs)
			if len(kept) != 1 || len(left) != 1 || kept[0] != left[0].For || left[0].Unexplained() != c.unexplained {
				t.Errorf("%d and %d records: %d kept, %+v", whole.Records, c.other.Records, len(kept), left)
			}
		}
	}
}
