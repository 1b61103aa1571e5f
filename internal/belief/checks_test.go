package belief

import (
	"fmt"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// TestBrokenInvariants breaks each invariant of a client's terms once, and checks that the panic says which and where.
func TestBrokenInvariants(t *testing.T) {
	for broken, breakIt := range map[string]func(*Checks){
		"belief returns after its deadline had passed": func(c *Checks) {
			c.Deadline.Publish(events.Deadline{Session: 1, Until: 20}, 0)
			c.Published(&SessionDeadline{Deadline: events.Deadline{Session: 1, Until: 10}, Passed: true})
		},
		"ValidUntil moves back by 5 ns":              func(c *Checks) { readDeadlines(c, 10, 20, 15) },
		"belief returns within":                      func(c *Checks) { readDeadlines(c, 10, 0, 20) },
		"a term begins within the term with token 7": func(c *Checks) { c.Begins("term", "latch-1", 7, 0) },
		"a term begins, and 1 pieces of work":        func(c *Checks) { c.Begins("term", "latch-1", 0, 1) },
		"a term ends that has not begun":             func(c *Checks) { c.Ends(nil, "latch-1", false) },
		"2 values wait, of 1 keys":                   func(c *Checks) { c.Feeds(1, 2, "next") },
	} {
		t.Run(broken, func(t *testing.T) {
			c := &Checks{Client: "a client", Deadline: &Deadline{}}
			said := panicOf(func() { breakIt(c) })
			if !strings.Contains(said, "broken invariant: "+broken) ||
				!strings.HasPrefix(said, "a client: handle of machine ") {
				t.Errorf("%q", said)
			}
		})
	}
}

// What is as it should be is no breach.
func TestWholeInvariants(t *testing.T) {
	c := &Checks{Client: "a client", Deadline: &Deadline{}}
	if said := panicOf(func() {
		readDeadlines(c, 10, 10, 20)
		c.Ends("term", "latch-1", true)
		readDeadlines(c, 15, 0, 0) // of another term
		c.Feeds(1, 1, "next")
		c.Published(c.Deadline.Present())
	}); said != "" {
		t.Error(said)
	}
}

// readDeadlines reads the deadline of one term with these deadlines, one after the other.
func readDeadlines(c *Checks, untils ...int64) {
	c.Begins("term", "latch-1", 0, 0)
	for _, until := range untils {
		c.Deadline.Publish(events.Deadline{Session: 1, Until: until}, 0)
		c.Read("term", "latch-1", 1, 7)
	}
}

// panicOf returns what a function panics with, "" if it does not.
func panicOf(f func()) (said string) {
	defer func() {
		if r := recover(); r != nil {
			said = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}
