package zkio_test

import (
	"context"
	"net"
	"testing"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// pipes is an in-memory server reached without a network, for tests in a
// synctest bubble.
type pipes struct {
	*zkmem.Server
}

func newPipes(t *testing.T, o zkmem.Options) pipes {
	srv := zkmem.New(o)
	t.Cleanup(srv.Close)
	return pipes{srv}
}

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	go p.ServeConn(server)
	return client, nil
}

// pipedRig is a rig in front of the server, with session 1 attached.
func pipedRig(t *testing.T, p pipes, cfg zkio.Config) (*rig, events.Event) {
	cfg.Servers, cfg.Dial = []string{"mem:2181"}, p.dial
	r := newRig(t, cfg)
	r.Execute(events.SessionMachine, events.Connect{Session: 1})
	return r, r.await(events.ConnectionAttached)
}

// The types of Config.Dial, for tests that replace it.
type (
	dialContext = context.Context
	dialConn    = net.Conn
)
