package zkio

import (
	"cmp"
	"errors"
	"maps"
	"net"
	"slices"

	"github.com/incumbent-go/incumbent/events"
)

// notServing is the error of a handshake with a server that cannot hold the session.
type notServing string

func (e notServing) Error() string { return string(e) }

// endOf returns the code of why a connection ended or could not be made. A pause of this
// process is not seen here.
func endOf(why error) events.ConnectionEnd {
	var refused refusal
	var serving notServing
	var timeout net.Error
	switch {
	case errors.Is(why, errClosed):
		return events.ConnectionEndClosed
	case errors.Is(why, errSilent):
		return events.ConnectionEndSilent
	case errors.Is(why, errProtocol):
		return events.ConnectionEndProtocol
	case errors.As(why, &serving):
		return events.ConnectionEndNotServing
	case errors.As(why, &refused) && refused.code == events.ConnectionLoss:
		return events.ConnectionEndUnanswered
	case errors.As(why, &refused):
		return events.ConnectionEndRefused
	case errors.As(why, &timeout) && timeout.Timeout():
		return events.ConnectionEndSilent
	}
	return events.ConnectionEndNetwork
}

// detach posts that the connection is gone, then answers all its calls: the outcome of
// those written is unknown, the others were not sent.
func (s *session) detach(end events.ConnectionEnd, text string) {
	server := s.wire.server
	s.wire = nil
	s.postEvent(events.Event{
		Kind: events.ConnectionSuspended, Code: events.ConnectionLoss, Text: s.largestInFlight().endText(text),
		Server: server, End: end, Paused: int64(s.pauses.own),
	})
	written := s.written()
	var lost [features]bool
	for _, c := range written {
		lost[featureOf(c.request)] = true
	}
	for f := trees; f < features; f++ {
		if lost[f] && mayRefuse(end) {
			s.a.known.lost(f)
		}
	}
	clear(s.watches.trees)
	clear(s.pending)
	for _, c := range written {
		if end != events.ConnectionEndOwnPause && end != events.ConnectionEndSession &&
			end != events.ConnectionEndRefused {
			s.a.suspects.ended(c, s.a.cfg.Now())
		}
		s.answer(c, c.event(events.ConnectionLoss, c.inFlightText(text)), Kept{})
	}
	s.failWaiting(text)
}

// refuseWritten answers all calls of a connection whose server demanded a login, and closed it: it carries out no
// request of a connection without one, so the outcome of those that it did not answer is known, too.
func (s *session) refuseWritten() {
	for _, c := range s.written() {
		s.answer(c, c.event(events.RequiresSASL, ""), Kept{})
	}
	clear(s.pending)
}

// written returns the calls that wait for an answer, in the order in which they were made.
func (s *session) written() []*call {
	return slices.SortedFunc(maps.Values(s.pending), func(a, b *call) int { return cmp.Compare(a.order, b.order) })
}

// failWaiting answers all calls that wait in the lanes.
func (s *session) failWaiting(text string) {
	for _, c := range append(s.lanes.drain(), s.parked...) {
		s.answer(c, c.event(events.NotSent, text), Kept{})
	}
	s.parked = nil
}

// remoteAddress returns the address at the other end of a connection, "" if it has none.
func remoteAddress(c net.Conn) string {
	if a := c.RemoteAddr(); a != nil {
		return a.String()
	}
	return ""
}
