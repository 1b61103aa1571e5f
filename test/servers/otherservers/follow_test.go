package otherservers

import (
	"context"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit"
	"github.com/incumbent-go/incumbent/test/kit/tape"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// follower is a client that was given the first server of three, and follows the ensemble.
type follower struct {
	*client
	e     *zkmem.Ensemble
	lines chan string // of its log, about its list of servers and its connection
}

func (f *follower) Write(line []byte) (int, error) {
	for _, about := range []string{"ensemble's configuration", `"connection"`} {
		if strings.Contains(string(line), about) {
			f.lines <- string(line)
		}
	}
	return len(line), nil
}

// says waits for a line with all of these.
func (f *follower) says(parts ...string) {
	f.t.Helper()
	for {
		select {
		case line := <-f.lines:
			found := 0
			for _, part := range parts {
				if strings.Contains(line, part) {
					found++
				}
			}
			if found == len(parts) {
				return
			}
		case <-f.ctx.Done():
			f.t.Fatalf("the log does not say %q", parts)
		}
	}
}

func followed(t *testing.T, chroot string) *follower {
	t.Helper()
	return followedOf(t, zkmem.StartEnsemble(t, 3), chroot)
}

func followedOf(t *testing.T, e *zkmem.Ensemble, chroot string) *follower {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), tape.Within)
	t.Cleanup(cancel)
	f := &follower{client: &client{t: t, ctx: ctx, tape: tape.New(t)}, e: e, lines: make(chan string, 1000)}
	if chroot != "" && chroot != "/zookeeper" {
		_, err := e.Leader().Create(chroot, nil, zkmem.Persistent)
		ok(t, err)
	}
	f.Client = kit.Recorded(t, f.tape, incumbent.Config{
		Servers: e.Servers()[0].Addr() + chroot, FollowEnsemble: true, Logger: zerolog.New(f),
	}, kit.CloseConnected)
	ok(t, f.WaitConnected(ctx))
	return f
}

// A client that was given one server of three goes on at the others when that one is gone for good: in the same
// session, and with the same place and token.
func TestTheListFollowsTheEnsemble(t *testing.T) {
	for _, chroot := range []string{"", "/app", "/zoo", "/zookeeper"} {
		t.Run("chroot "+chroot, func(t *testing.T) {
			f := followed(t, chroot)
			f.says("the servers are those", f.e.Servers()[1].Addr(), f.e.Servers()[2].Addr())
			l := f.latch("/line", "a")
			before, id := f.lead(l), f.SessionID()
			f.e.Servers()[0].Stop()
			f.says("SUSPENDED")
			before.Release()
			f.says("RECONNECTED")
			after := f.lead(l)
			defer after.Release()
			if f.SessionID() != id || after.Token() != before.Token() {
				t.Errorf("session %x and token %d, and then %x and %d", id, before.Token(),
					f.SessionID(), after.Token())
			}
		})
	}
}

// All three servers are replaced, one at a time. A client that was given one of the first goes on in the same session,
// with the same place and token, at servers which only the configuration has named.
func TestTheListFollowsWhenAllServersAreReplaced(t *testing.T) {
	e := zkmem.StartEnsemble(t, 6)
	all := e.Servers()
	for _, s := range all[3:] {
		ok(t, e.Remove(s))
		s.Stop()
	}
	f := followedOf(t, e, "")
	f.says(list(all[:3]))
	l := f.latch("/line", "a")
	before, id := f.lead(l), f.SessionID()
	for i, old := range all[:3] {
		ok(t, all[i+3].Restart())
		ok(t, e.Add(all[i+3]))
		f.says(list(all[i : i+4]))
		ok(t, e.Remove(old))
		f.says(list(all[i+1 : i+4]))
		old.Stop()
		at := func(v *zkmem.View) bool {
			sessions := v.Sessions()
			return len(sessions) == 1 && sessions[0].Addr != "" && sessions[0].Server > i+1
		}
		if err := all[i+3].WaitFor(f.ctx, at); err != nil {
			t.Fatalf("after the end of server %d: %v", i+1, err)
		}
	}
	<-before.Context().Done()
	before.Release()
	after := f.lead(l)
	defer after.Release()
	if f.SessionID() != id || after.Token() != before.Token() {
		t.Errorf("session %x and token %d, and then %x and %d", id, before.Token(), f.SessionID(), after.Token())
	}
}

// list is what the log has when these are the servers.
func list(servers []*zkmem.Server) string {
	var addrs []string
	for _, s := range servers {
		addrs = append(addrs, s.Addr())
	}
	return `"servers":"` + strings.Join(addrs, ",") + `"`
}

// An address that changes is followed, too.
func TestTheListFollowsAnAddress(t *testing.T) {
	f := followed(t, "")
	all := f.e.Servers()
	f.says(list(all))
	another, err := zkmem.FreeAddr()
	ok(t, err)
	ok(t, all[2].Listen(another))
	ok(t, f.e.Advertise(all[2], another))
	f.says(strings.Replace(list(all), all[2].Addr(), another, 1))
}

// A configuration may name a server of another ensemble, which does not know the session. It does not end it.
func TestAConfigurationThatNamesAnotherEnsemble(t *testing.T) {
	other := zkmem.StartEnsemble(t, 3)
	for range 3 { // so that its transactions have higher numbers than those that the client has seen
		deposed, _, err := other.Depose()
		ok(t, err)
		ok(t, other.Reconnect(deposed))
		_, err = other.Leader().Create("/n-", nil, zkmem.PersistentSequential)
		ok(t, err)
	}
	foreign := other.Leader()
	f := followed(t, "")
	f.says("the servers are those")
	id := f.SessionID()
	config := "server.1=127.0.0.1:1:2:participant;" + foreign.Addr()
	ok(t, f.e.Leader().Set("/zookeeper/config", []byte(config)))
	f.says("the servers are those", foreign.Addr())
	for _, s := range f.e.Servers() {
		s.Stop()
	}
	before := foreign.Counts().Handshakes
	ok(t, foreign.WaitFor(f.ctx, func(v *zkmem.View) bool { return v.Counts().Handshakes > before }))
	for _, s := range f.e.Servers() {
		ok(t, s.Restart())
	}
	f.says("RECONNECTED")
	if f.SessionID() != id {
		t.Errorf("session %x became %x", id, f.SessionID())
	}
}

// A configuration that lies changes nothing: the client returns to its server, in the same session.
func TestAConfigurationThatLies(t *testing.T) {
	for what, c := range map[string]struct{ config, says string }{
		"nobody answers":   {"server.1=127.0.0.1:1:2:participant;127.0.0.1:1", "the servers are those"},
		"no host":          {"server.1=0.0.0.0:1:2:participant;0.0.0.0:2181", "no host that a client can reach"},
		"no server at all": {"version=0", "it names no server"},
	} {
		t.Run(what, func(t *testing.T) {
			f := followed(t, "/zoo") // whose first letters the configuration has as well
			f.says("the servers are those", f.e.Servers()[1].Addr())
			id := f.SessionID()
			ok(t, f.e.Leader().Set("/zookeeper/config", []byte(c.config)))
			f.says(c.says)
			for _, s := range f.e.Servers() {
				s.Disconnect(id)
			}
			f.says("SUSPENDED")
			f.says("RECONNECTED")
			if f.SessionID() != id {
				t.Error("the session is another one")
			}
		})
	}
}
