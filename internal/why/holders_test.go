package why

import (
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// One permit was given back and another one is held: that nobody leads is not said, and who holds is.
func TestASummaryNamesWhoHoldsAPermit(t *testing.T) {
	a, b := newCrafted(2, 200), newCrafted(1, 100)
	a.stop(2, 1100, events.CommandClose)
	for _, c := range []*crafted{a, b} {
		for i := range c.records {
			if c.records[i].Machine == "latch-1" {
				c.records[i].Machine = "semaphore-1"
			}
		}
	}
	r := Explain([]*Log{a.on(t, "alice"), b.on(t, "bob")}, nil, Options{})
	s, text := r.Summaries[0], strings.Join(r.Lines(false), "\n")
	if s.NobodySince != nil || s.Leader != "" || len(s.Holders) != 1 ||
		strings.Contains(strings.ToLower(text), "nobody leads") {
		t.Errorf("%+v\n%s", s, text)
	}
	if want := "bob holds its permits with token 1, as of 00:00:00.100"; !strings.Contains(text, want) {
		t.Errorf("%q is not in\n%s", want, text)
	}
}
