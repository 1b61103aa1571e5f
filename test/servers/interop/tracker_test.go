package interop

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// tracker is a client of Curator that was given the first server of an ensemble in memory. Its EnsembleTracker is on,
// as it is by default.
type tracker struct {
	*peer
	t       *testing.T
	e       *zkmem.Ensemble
	session int64
}

// tracked starts the ensemble and the client. Members notice after a second that they are alone.
func tracked(t *testing.T, o zkmem.Options) *tracker {
	t.Helper()
	if !selection.StartsServers(t) {
		realzk.NotRun(t, "Curator on an ensemble in memory (make prove starts it)")
	}
	options := curator.options(t)
	o.Tick, o.MaxSessionTimeout = 200*time.Millisecond, time.Minute
	e, err := zkmem.NewEnsemble(3, o)
	ok(t, err)
	t.Cleanup(e.Close)
	for _, s := range e.Servers() {
		addr, err := zkmem.FreeAddr()
		ok(t, err)
		ok(t, s.Listen(addr))
	}
	s := &stage{t: t, timeout: timeout, more: make(chan struct{})}
	first := e.Servers()[0].Addr()
	p := &peer{stage: s, name: "java", command: func() *exec.Cmd {
		arguments := []string{"Tracker", first, noJournal, fmt.Sprint(timeout.Milliseconds()), noJournal}
		return exec.Command("java", slices.Concat(options, arguments)...)
	}}
	p.launch()
	c := &tracker{peer: p, t: t, e: e}
	c.session = c.sessions()[0].ID
	return c
}

func (c *tracker) sessions() []zkmem.SessionInfo { return c.e.Servers()[0].Sessions() }

// follows waits until the client is given these servers, from a position in its words on.
func (c *tracker) follows(from int, addrs ...string) {
	c.t.Helper()
	want := strings.Join(addrs, ",")
	c.stage.await(from, "the servers "+want, func(s saying) bool {
		return strings.Join(s.words, " ") == "servers "+want
	})
}

// at waits until the client is connected to another member than some, and returns the one.
func (c *tracker) at(not ...*zkmem.Server) (found *zkmem.Server) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), within)
	defer cancel()
	all := c.e.Servers()
	err := all[0].WaitFor(ctx, func(v *zkmem.View) bool {
		for _, s := range v.Sessions() {
			if s.ID == c.session && s.Addr != "" && s.Server > 0 && !slices.Contains(not, all[s.Server-1]) {
				found = all[s.Server-1]
			}
		}
		return found != nil
	})
	if err != nil {
		c.t.Fatalf("the client is not connected: %v. The last words:\n%s", err, c.stage.last(20))
	}
	return found
}

// creates has the client create a node, which it does again until it succeeds.
func (c *tracker) creates(path string) {
	c.t.Helper()
	from := c.stage.now()
	c.say("create %s", path)
	c.stage.await(from, path, func(s saying) bool { return s.words[0] == "created" && s.words[1] == path })
}

// stays fails if the client has lost its session, or its servers.
func (c *tracker) stays(fault string) {
	c.t.Helper()
	c.creates("/after-" + fault)
	if all := c.sessions(); len(all) != 1 || all[0].ID != c.session {
		c.t.Errorf("%s: the session %x is not the only one: %v", fault, c.session, all)
	}
	c.stage.mu.Lock()
	defer c.stage.mu.Unlock()
	for _, said := range c.stage.read {
		text := strings.Join(said.words, " ")
		if text == "connection LOST" || said.words[0] == "servers" && !c.ours(said.words[1]) {
			c.t.Errorf("%s: %s", fault, text)
		}
	}
}

// ours reports whether a list has no other servers than the ensemble's.
func (c *tracker) ours(list string) bool {
	for addr := range strings.SplitSeq(list, ",") {
		if !slices.Contains(strings.Split(c.e.Addr(), ","), addr) {
			return false
		}
	}
	return true
}

// A client of Curator that follows the configuration goes from one member in memory to another at each fault, in one
// session, and never to a server that is not the ensemble's.
func TestCuratorStaysOnAnEnsembleInMemory(t *testing.T) {
	t.Parallel()
	c := tracked(t, zkmem.Options{})
	c.follows(0, strings.Split(c.e.Addr(), ",")...)
	c.stays("start")
	where := c.at()
	where.Stop()
	c.at(where)
	c.stays("stop")
	ok(t, where.Restart())
	for i, s := range c.e.Servers() {
		s.Stop()
		c.at(s)
		ok(t, s.Restart())
		c.stays(fmt.Sprintf("restart-%d", i+1))
	}
	where = c.at()
	ok(t, c.e.Isolate(where))
	c.at(where)
	c.stays("isolate")
	ok(t, c.e.Reconnect(where))
	deposed, _, err := c.e.Depose()
	ok(t, err)
	c.stays("depose")
	c.at(deposed)
	c.e.Heal()
	c.stays("heal")
}

// The list of servers follows a member that leaves and comes back. A client's own reconfig is refused, as by a real
// server with its defaults.
func TestCuratorFollowsAnEnsembleInMemory(t *testing.T) {
	t.Parallel()
	c := tracked(t, zkmem.Options{})
	addrs := strings.Split(c.e.Addr(), ",")
	c.follows(0, addrs...)
	last, from := c.e.Servers()[2], c.stage.now()
	ok(t, c.e.Remove(last))
	c.follows(from, addrs[:2]...)
	last.Stop()
	c.at(last)
	ok(t, last.Restart())
	from = c.stage.now()
	ok(t, c.e.Add(last))
	c.follows(from, addrs...)
	from = c.stage.now()
	c.say("remove 3")
	said, _ := c.stage.awaitAny(from, "a refusal", func(s saying) bool {
		return s.words[0] == "error" || s.words[0] == "removed"
	})
	if text := strings.Join(said.words, " "); !strings.Contains(text, "KeeperErrorCode = Reconfig is disabled") {
		t.Error(text)
	}
	c.stays("reconfig")
}
