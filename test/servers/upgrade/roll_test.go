//go:build linux

package upgrade

import (
	"slices"
	"strings"
	"testing"
)

// A service of three is upgraded in place, one process after the other, and then taken back to the older version: each
// time another process with the same ID takes part again. Those that are killed are replaced while the node of the
// killed one is still in line.
func TestAServiceIsUpgradedInPlace(t *testing.T) {
	on(t, func(t *testing.T, s *server, old version) {
		e := newElection(t, s)
		e.launch(present, "x", s.orders(s.addr)).do("create x %s/register none", s.dir)
		for _, id := range []string{"a", "b", "c"} {
			e.join(id, old)
		}
		defer e.atMost(1, "l")
		now := e.leader()
		for _, step := range []struct {
			to     version
			killed bool
		}{{present, false}, {old, true}, {present, true}, {old, false}} {
			followers := slices.DeleteFunc(slices.Clone(e.places), func(p *place) bool { return p == now })
			for _, p := range append(followers, now) { // the leader last, as an operator would
				e.replace(p, step.to, step.killed, p == now)
				if p == now {
					now = e.leader()
				}
				s.awaitChildren(e.path, len(e.places))
				t.Logf("%s is %s now (killed: %v), %s leads", p.id, step.to.name, step.killed, now)
			}
			e.sameLine()
		}
	})
}

// replace ends a participant's process, and starts one of another version with the same ID.
func (e *election) replace(p *place, to version, killed, leads bool) {
	e.t.Helper()
	if !killed {
		p.leave()
		e.restart(p, to)
		return
	}
	p.kill()
	e.restart(p, to)
	if other := e.places[(slices.Index(e.places, p)+1)%len(e.places)]; leads {
		ids := strings.Fields(other.do("line l"))
		e.t.Logf("%s reads the line %v", other, ids)
	}
}
