package incumbent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/belief"
	"github.com/incumbent-go/incumbent/internal/clock"
	"github.com/incumbent-go/incumbent/internal/journal"
	"github.com/incumbent-go/incumbent/zkio"
)

// TestBrokenInvariants breaks each invariant of a client's handles once, and checks that the
// panic says which and where.
func TestBrokenInvariants(t *testing.T) {
	for broken, breakIt := range map[string]func(*Client, *participant){
		"belief returns after its deadline had passed": func(c *Client, _ *participant) {
			c.belief.Publish(events.Deadline{Session: 1, Until: 20}, 0)
			before := belief.SessionDeadline{Deadline: events.Deadline{Session: 1, Until: 10}, Passed: true}
			c.invariants.published(&before)
		},
		"ValidUntil moves back by 5 ns": func(c *Client, p *participant) { readDeadlines(c, p, 10, 20, 15) },
		"belief returns within":         func(c *Client, p *participant) { readDeadlines(c, p, 10, 0, 20) },
		"a term begins within the term with token 7": func(c *Client, p *participant) {
			p.setTerm(termOf(p, 7))
			p.noteTerm(events.Notify{What: events.Elected, Token: 8})
		},
		"a term begins, and 1 pieces of work": func(c *Client, p *participant) {
			term := termOf(p, 7)
			p.setTerm(term)
			p.setTerm(nil)
			term.works = map[*Leadership]uint64{{}: 1}
			p.noteTerm(events.Notify{What: events.Elected, Token: 8})
		},
		"a term ends that has not begun": func(c *Client, p *participant) { p.noteTerm(events.Notify{What: events.Stopped}) },
		"there is work under the terms with tokens": func(c *Client, p *participant) {
			first, second := termOf(p, 7), termOf(p, 8)
			c.deadlines.terms = map[*heldTerm]bool{first: true, second: true}
			c.invariants.works(&c.deadlines, second)
		},
		"leadership began: true, and before: true": func(c *Client, p *participant) {
			p.listeners.Add(p.listener(Listener{}), func() (change, bool) { return change{}, true })
			p.listeners.Send(change{}, func() {})
		},
		"command 1 of 1 was not sent, or is answered twice": func(c *Client, p *participant) {
			n, _ := p.commands.Reserve(&p.client.commands)
			p.deliver(events.Answer{Command: n})
			p.deliver(events.Answer{Command: n})
		},
		"command 2 of 2 was not sent": func(c *Client, p *participant) {
			p.commands.Reserve(&p.client.commands)
			n, _ := p.commands.Reserve(&p.client.commands)
			p.commands.Drop(n)
			p.deliver(events.Answer{Command: n}) // the one answer, which nobody awaits
			p.deliver(events.Answer{Command: n})
		},
		"201 replies are kept, of at most 200": func(c *Client, p *participant) {
			o := &watchHandle{}
			o.init(c, "/line")
			o.id = p.id
			for n := range uint64(maxKept + 1) {
				o.keep(n, zkio.Kept{Stat: &zkio.Stat{}})
			}
		},
		"2 values wait, of 1 keys": func(c *Client, _ *participant) {
			f := newFeed[int](c)
			f.pending.PushBack(feedItem[int]{key: "lost"})
			f.put(feedItem[int]{key: "next"})
		},
	} {
		t.Run(broken, func(t *testing.T) {
			c := atRest(t)
			p := &participant{}
			p.id = "latch-1"
			p.prepare(c, "/line", LatchOptions{})
			said := panicOf(func() { breakIt(c, p) })
			if !strings.Contains(said, "broken invariant: "+broken) || !strings.HasPrefix(said, `incumbent.Client(127.0.0.1:1) ("a name"): handle of machine `) {
				t.Errorf("%q", said)
			}
			c.invariants, p.commands.Broken = nil, nil
		})
	}
}

// atRest returns a client that runs nothing.
func atRest(t *testing.T) *Client {
	config := Config{Servers: "127.0.0.1:1", Name: "a name"}
	config, err := config.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	c := &Client{config: &config, closed: make(chan struct{}), log: journal.New(config.Logger, config.Name),
		clock: clock.Of(func() int64 { return 1 })}
	c.deadlines.client = c
	c.outages.Log, c.outages.Now, c.outages.Timeout = c.log, c.clock.Now, c.timeout
	c.invariants = &clientInvariants{client: c, terms: map[*heldTerm]*sighting{}}
	return c
}

func termOf(p *participant, token int64) *heldTerm {
	return &heldTerm{Term: Term{Session: 1, Token: token}, holder: p, watch: &p.client.deadlines}
}

// readDeadlines reads ValidUntil of one term with these deadlines, one after the other.
func readDeadlines(c *Client, p *participant, untils ...int64) {
	term := termOf(p, 7)
	c.invariants.begins(term)
	for _, until := range untils {
		c.belief.Publish(events.Deadline{Session: 1, Until: until}, 0)
		(&Leadership{client: c, term: term}).ValidUntil()
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
