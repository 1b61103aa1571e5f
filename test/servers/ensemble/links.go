package ensemble

import (
	"time"

	"github.com/incumbent-go/incumbent/test/kit/proxy"
)

// each visits the links between two servers, and the direction in each that leads from the first to the second.
func (e *Ensemble) each(from, to *Server, visit func(*proxy.Link, proxy.Direction)) {
	for _, port := range []port{quorum, election} {
		visit(e.links[route{from.id - 1, to.id - 1, port}], proxy.Forth)
		visit(e.links[route{to.id - 1, from.id - 1, port}], proxy.Back)
	}
}

// Silence has nothing from one server arrive at another from now on. Neither server sees it.
func (e *Ensemble) Silence(from, to *Server) {
	e.each(from, to, func(l *proxy.Link, d proxy.Direction) { l.Silence(d) })
}

// Part silences two servers to each other.
func (e *Ensemble) Part(a, b *Server) {
	e.Silence(a, b)
	e.Silence(b, a)
}

// Isolate parts a server from both others.
func (e *Ensemble) Isolate(s *Server) {
	for _, other := range e.servers {
		if other != s {
			e.Part(s, other)
		}
	}
}

// Delay has everything from one server arrive at another later, by this duration.
func (e *Ensemble) Delay(from, to *Server, by time.Duration) {
	e.each(from, to, func(l *proxy.Link, d proxy.Direction) { l.Delay(d, by) })
}

// Cut ends the connections between two servers, so that both see it, and refuses new ones.
func (e *Ensemble) Cut(a, b *Server) {
	e.each(a, b, func(l *proxy.Link, _ proxy.Direction) { l.Cut() })
}

// CutUnseen ends the connections between a server and both others, so that only the others see it: to the server they
// are only silent. A host has that if its network card fails, and the switch answers for it.
func (e *Ensemble) CutUnseen(s *Server) {
	for _, other := range e.servers {
		if other != s {
			e.each(other, s, func(l *proxy.Link, d proxy.Direction) { l.CutOneEnd(d) })
		}
	}
}

// Heal ends all faults of links. What was silenced arrives now.
func (e *Ensemble) Heal() {
	for _, l := range e.links {
		l.Heal()
	}
}
