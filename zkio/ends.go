package zkio

import (
	"errors"
	"net"

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

// remoteAddress returns the address at the other end of a connection, "" if it has none.
func remoteAddress(c net.Conn) string {
	if a := c.RemoteAddr(); a != nil {
		return a.String()
	}
	return ""
}
