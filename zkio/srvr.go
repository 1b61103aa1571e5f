package zkio

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/incumbent-go/incumbent/events"
)

// maxWord bounds the answer to a four-letter word.
const maxWord = 64 << 10

// ServerIs is what a server says of itself.
type ServerIs struct {
	Release Release
	Mode    string // "leader", "follower", "observer", "standalone", "read-only"
}

// AskServer asks a server, "host:port" as configured, what it is, by the four-letter word srvr. The connection is one
// of its own, dialled and encrypted as those of sessions are, without a session or a login. It takes at most as long as
// a handshake may. The error says why it is not known: also a server that does not serve, or has no such word, is one.
// It is safe to call from anywhere but the loop's goroutine.
func (a *Adapter) AskServer(ctx context.Context, server string) (is ServerIs, err error) {
	ctx, cancel := context.WithTimeout(ctx, a.cfg.Handshake)
	defer cancel()
	conn, err := a.dialSeparately(ctx, server)
	if err != nil {
		return is, fmt.Errorf("%s: %w", server, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if _, err := io.WriteString(conn, "srvr"); err != nil {
		return is, err
	}
	answer, err := io.ReadAll(io.LimitReader(conn, maxWord))
	if err != nil {
		return is, err
	}
	for line := range strings.Lines(string(answer)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch name {
		case "Zookeeper version":
			is.Release = ParseRelease(value)
		case "Mode":
			is.Mode = events.Foreign(value, events.MaxName)
		}
	}
	if !is.Release.Known() {
		return is, fmt.Errorf("%s does not say which release it is", server)
	}
	return is, nil
}

// dialSeparately connects to a server, outside the sessions' order of servers.
func (a *Adapter) dialSeparately(ctx context.Context, server string) (conn net.Conn, err error) {
	host, _, err := net.SplitHostPort(server)
	if err != nil {
		return nil, err
	}
	if a.cfg.Dial != nil {
		conn, err = a.dialByUser(ctx, server)
	} else {
		conn, err = a.network.dial(ctx, server)
	}
	if err != nil || a.cfg.TLS == nil {
		return conn, err
	}
	secured, err := a.cfg.TLS.client(ctx, conn, host, &a.own)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return secured, nil
}
