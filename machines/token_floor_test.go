package machines

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A node whose token is below the floor comes from an ensemble that went back in time. It
// is never led by: the failure is reported, and the node is deleted. A token at the floor
// is good.
func TestATokenBelowTheFloorIsRefused(t *testing.T) {
	place := func(recipe, begin string) []string {
		return []string{recipe + " command." + begin, recipe + " reply.create seq=4", recipe + " reply.stat"}
	}
	const token = 20
	for recipe, c := range map[string]struct {
		lines  []string
		delete string
	}{
		"latch":     {place("latch", "start"), "delete /l/_c_<latch.1>-latch-0000000004"},
		"selector":  {place("selector", "start"), "delete /l/_c_<selector.1>-lock-0000000004"},
		"election":  {place("election", "start"), "delete /l/n_0000000004"},
		"mutex":     {place("mutex", "await"), "delete /l/_c_<mutex.1>-lock-0000000004"},
		"readwrite": {place("readwrite", "await"), "delete /l/_c_<readwrite.1>-__WRIT__0000000004"},
		"semaphore": {ways["leads semaphore"], "multi {delete /l/leases/_c_<semaphore.1>-lease-0000000000}"},
		"jobelection": {ways["leads jobelection"], "multi {delete /l/leader/election/seal-<jobelection.1>; delete " +
			"/l/leader/election/instance version=1}"},
	} {
		for above, accepted := range []bool{true, false} {
			conversation := newConversation(t, newCoverage())
			conversation.play(t, "connected")
			limit := ""
			if recipe == "semaphore" {
				limit = " limit=3"
			}
			conversation.play(t, fmt.Sprintf("open %s%s tokenFloor=%d", recipe, limit, token+above))
			answer := ""
			for _, line := range c.lines {
				if rest, latch := strings.CutPrefix(line, "L "); latch {
					line = "latch-" + recipe + "-1 " + rest
				} else if !strings.HasPrefix(line, recipe) {
					line = recipe + " " + line
				}
				answer = conversation.play(t, line)
			}
			refused := strings.Contains(answer, "notify failed TOKENFLOOR")
			if refused == accepted || refused && !slices.Contains(requests(answer), c.delete) {
				t.Errorf("%s, token %d, floor %d: refused %t, and it sends %q:\n%s", recipe, token, token+above,
					refused, requests(answer), answer)
			}
		}
	}
}
