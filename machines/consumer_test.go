package machines

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// A consumer whose items all fail leaves the rest to other consumers, and waits until the first of its
// own is due. It does not loop over items that it may not lock.
func TestAConsumerKeepsABoundedNumberOfLocks(t *testing.T) {
	c := newConversation(t, newCoverage())
	say := func(line string) string {
		words := strings.Fields(line)
		d := &datadriven.TestData{Cmd: words[0]}
		for _, w := range words[1:] {
			key, value, given := strings.Cut(w, "=")
			a := datadriven.CmdArg{Key: key}
			if given {
				a.Vals = strings.Split(value, ",")
			}
			d.CmdArgs = append(d.CmdArgs, a)
		}
		return c.say(t, d)
	}
	var items []string
	for i := range maxParked + 2 {
		items = append(items, fmt.Sprintf("queue-|18BCFE56800|%010d", i))
	}
	for _, line := range []string{"connected", "open consumer path=/q kind=delay", "consumer command.start",
		"consumer reply.children path=/q children=" + strings.Join(items, ","),
		"consumer reply.multi version=1 mtime=1700000000000"} {
		say(line)
	}
	last := ""
	for i := range maxParked + 1 { // and one is being worked on
		say("consumer reply.multi")
		say("consumer reply.stat")
		last = say(fmt.Sprintf("consumer work.returned work=%d text=broken", i+1))
		if i < maxParked && !strings.Contains(last, items[i+1]) {
			t.Fatalf("after %d failures it locks no other:\n%s", i+1, last)
		}
	}
	if strings.Contains(last, items[maxParked+1]) {
		t.Errorf("it locks one too many:\n%s", last)
	}
	last = say("consumer reply.multi")
	if !strings.Contains(last, "timer next") || strings.Contains(last, "timer next 1ms") {
		t.Errorf("it does not wait for its own:\n%s", last)
	}
}
