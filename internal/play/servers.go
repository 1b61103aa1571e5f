package play

import (
	"time"

	"github.com/incumbent-go/incumbent/internal/world"
)

// span is a time of a world, in nanoseconds; to 0 has no end yet.
type span struct {
	from, to int64
	kind     string
}

// serverLife is what a server has been, one span after the other.
type serverLife struct {
	server *world.Server
	spans  []span
}

// lookAfter is how often the servers are looked at.
const lookAfter = 10 * time.Millisecond

// watchServers notes what the servers are, and again after a while.
func (r *run) watchServers() {
	for _, l := range r.servers {
		kind := kindOf(l.server)
		n := len(l.spans)
		if n > 0 && l.spans[n-1].kind == kind {
			continue
		}
		if n > 0 {
			l.spans[n-1].to = r.w.Now()
		}
		l.spans = append(l.spans, span{from: r.w.Now(), kind: kind})
	}
	r.w.After(lookAfter, r.watchServers)
}

// kindOf says what a server is: one that is isolated may still serve, or lead by itself.
func kindOf(s *world.Server) string {
	switch {
	case !s.Up():
		return "down"
	case s.Frozen():
		return "frozen"
	case s.Isolated():
		return "isolated"
	case s.Leads():
		return "leads"
	case s.Serving():
		return "serves"
	}
	return "joins"
}
