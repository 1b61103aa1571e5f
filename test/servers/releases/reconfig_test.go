package releases

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/test/kit/tape"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// peer is a server whose ensemble changes while it runs.
type peer struct {
	t                        *testing.T
	release                  realzk.Release
	id                       int
	client, quorum, election string // addresses
	process                  *realzk.Process
}

func newPeer(t *testing.T, release realzk.Release, id int) *peer {
	t.Helper()
	m := &peer{t: t, release: release, id: id}
	for _, addr := range []*string{&m.client, &m.quorum, &m.election} {
		var err error
		*addr, err = zkmem.FreeAddr()
		ok(t, err)
	}
	t.Cleanup(m.stop)
	return m
}

// line is the peer's line in the ensemble's configuration.
func (m *peer) line() string {
	port := func(addr string) string { _, port, _ := net.SplitHostPort(addr); return port }
	return fmt.Sprintf("server.%d=127.0.0.1:%s:%s:participant;%s", m.id, port(m.quorum), port(m.election), m.client)
}

// start starts the peer with these servers for its ensemble.
func (m *peer) start(all ...*peer) {
	m.t.Helper()
	dir := m.t.TempDir()
	ok(m.t, os.MkdirAll(filepath.Join(dir, "data"), 0o700))
	ok(m.t, os.WriteFile(filepath.Join(dir, "data", "myid"), []byte(fmt.Sprint(m.id)), 0o600))
	var lines []string
	for _, other := range all {
		lines = append(lines, other.line())
	}
	dynamic := filepath.Join(dir, "zoo.dynamic")
	ok(m.t, os.WriteFile(dynamic, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	config := fmt.Sprintf("tickTime=2000\ninitLimit=10\nsyncLimit=5\ndataDir=%s\n4lw.commands.whitelist=*\n"+
		"maxClientCnxns=0\nadmin.enableServer=false\nstandaloneEnabled=false\nreconfigEnabled=true\n"+
		"dynamicConfigFile=%s\n",
		filepath.Join(dir, "data"), dynamic)
	var err error
	m.process, err = m.release.Launch(dir, config, []string{"zookeeper.skipACL=yes"}, false)
	ok(m.t, err)
}

func (m *peer) stop() {
	if m.process != nil {
		m.process.End("TERM")
		m.process = nil
	}
}

// serves waits until the peer serves as a voter.
func (m *peer) serves() {
	m.t.Helper()
	eventually(m.t, fmt.Sprintf("server %d to serve", m.id), func() bool {
		answer, err := realzk.Probe(m.client, "srvr")
		return err == nil && (strings.Contains(answer, "Mode: leader") || strings.Contains(answer, "Mode: follower"))
	})
}

// eventually looks again and again.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), repeat.Enough)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("gave up waiting for %s", what)
		}
	}
}

// lists are the lists of servers that a client's log names, in order.
type lists chan string

func (l lists) Write(line []byte) (int, error) {
	if strings.Contains(string(line), "the servers are those") {
		l <- string(line)
	}
	return len(line), nil
}

// until waits for a list with one server and without another.
func (l lists) until(t *testing.T, with, without string) {
	t.Helper()
	end := time.NewTimer(repeat.Enough)
	defer end.Stop()
	for {
		select {
		case line := <-l:
			if strings.Contains(line, with) && !strings.Contains(line, without) {
				return
			}
		case <-end.C:
			t.Fatalf("the client's list does not have %s, or still has %s", with, without)
		}
	}
}

// All three servers are replaced, one at a time. A client that was given the first three and follows the ensemble ends
// at the new ones, in its session, with its place and its token.
func TestTheListFollowsReconfig(t *testing.T) {
	release := realzk.Newest
	if os.Getenv(realzk.Variable) != "" {
		release = realzk.Usual
	}
	release.Require(t)
	var all []*peer
	for id := range 6 {
		all = append(all, newPeer(t, release, id+1))
	}
	now := all[:3:3]
	for _, m := range now {
		m.start(now...)
	}
	for _, m := range now {
		m.serves()
	}
	release.At(t, now[0].client)
	servers := make(lists, 1000)
	log := tape.New(t)
	c := kit.Recorded(t, log, incumbent.Config{
		Servers: strings.Join([]string{now[0].client, now[1].client, now[2].client}, ","), FollowEnsemble: true,
		SessionTimeout: 40 * time.Second, Tick: 2 * time.Second, Logger: zerolog.New(servers),
		ConnectRetry: incumbent.RetryForever(50 * time.Millisecond),
	}, kit.CloseConnected)
	ctx, cancel := context.WithTimeout(t.Context(), repeat.Enough)
	defer cancel()
	ok(t, c.WaitConnected(ctx))
	l, err := c.Latch("/reconfig/line", incumbent.LatchOptions{ID: "a"})
	ok(t, err)
	ok(t, l.Start())
	held, err := l.Await(ctx)
	ok(t, err)
	session, token := c.SessionID(), held.Token()
	for i, old := range all[:3] {
		fresh := all[i+3]
		fresh.start(append(now, fresh)...)
		reconfigure(t, now[1:], old, fresh)
		now = append(now[1:len(now):len(now)], fresh)
		servers.until(t, fresh.client, old.client)
		old.stop()
		held.Release()
		held, err = l.Await(ctx)
		ok(t, err)
		if c.SessionID() != session || held.Token() != token {
			t.Errorf("session %x and token %d, and then %x and %d", session, token, c.SessionID(), held.Token())
		}
	}
	if _, err := held.Write(ctx, incumbent.CreateNode("/reconfig/written", nil)); err != nil {
		t.Errorf("at the new servers: %v", err)
	}
	held.Release()
}

// reconfigure has a new server join and an old one leave. Servers refuse until a quorum has caught up, and are asked
// again.
func reconfigure(t *testing.T, through []*peer, old, fresh *peer) {
	t.Helper()
	var addrs []string
	for _, m := range through {
		addrs = append(addrs, m.client)
	}
	admin, _, err := zk.Connect(addrs, 40*time.Second, zk.WithLogInfo(false), zk.WithDialer(realzk.Dial))
	ok(t, err)
	defer admin.Close()
	try := func(what string, change func() error) {
		var last error
		eventually(t, what, func() bool { last = change(); return last == nil })
	}
	try("the new server to join", func() error {
		_, err := admin.IncrementalReconfig([]string{fresh.line()}, nil, -1)
		return err
	})
	fresh.serves()
	try("the old server to leave", func() error {
		_, err := admin.IncrementalReconfig(nil, []string{fmt.Sprint(old.id)}, -1)
		return err
	})
}
