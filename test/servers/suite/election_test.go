package suite

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

type plainOne struct {
	*incumbent.Election
	handle
}

func (c *client) newElection(dir, prefix string) plainOne {
	c.t.Helper()
	e, err := c.Election(dir, prefix, incumbent.LatchOptions{Retry: incumbent.RetryForever(0)})
	ok(c.t, err)
	c.made["election"]++
	return plainOne{e, handle{c, events.ID(fmt.Sprintf("election-%d", c.made["election"]))}}
}

// candidate starts a candidate of a client of its own.
func candidate(t *testing.T, e ensemble, prefix, state string) plainOne {
	t.Helper()
	el := connected(t, e).newElection(e.dir(), prefix)
	ok(t, el.Start())
	el.settled(state)
	return el
}

func (e plainOne) lead() *incumbent.Leadership {
	e.c.t.Helper()
	held, err := e.Await(e.c.ctx)
	if err != nil {
		e.c.t.Fatalf("Await: %v\n%s", err, e.c.tape.Tail(30))
	}
	return held
}

func (e plainOne) close() { e.c.t.Helper(); ok(e.c.t, e.Close(e.c.ctx)) }

func TestFiveCandidatesLeadInTheOrderTheyCame(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		all := []plainOne{candidate(t, e, "n_", "leading")}
		for range 4 {
			all = append(all, candidate(t, e, "n_", "waiting"))
		}
		for i, el := range all {
			want := fmt.Sprintf("%s/n_%010d", e.dir(), i)
			if got := el.node(); got != want || el.Prefix() != "n_" {
				t.Fatalf("candidate %d has %s, want %s", i, got, want)
			}
			if n := e.watches(el.node()); n != 2 && i < 4 || n != 1 && i == 4 {
				t.Fatalf("%d watches on %s, want its own and the next one's", n, el.node())
			}
		}
		var last int64
		for i, el := range all {
			held := el.lead()
			if held.Token() <= last || held.Check() != nil || !el.HasLeadership() {
				t.Fatalf("token %d after %d, %v", held.Token(), last, held.Check())
			}
			last = held.Token()
			for _, other := range all[i+1:] {
				if other.HasLeadership() {
					t.Fatal("two believe")
				}
			}
			held.Release()
			el.close()
		}
		if left := e.children(e.dir()); len(left) != 0 {
			t.Fatalf("left behind: %q", left)
		}
	})
}

// TestAHandMadeCandidateTakesItsTurn: what others make by hand under the prefix
// is waited for, and waits.
func TestAHandMadeCandidateTakesItsTurn(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		first := candidate(t, e, "n_", "leading")
		conn, _, err := zk.Connect([]string{e.servers()}, e.timeout(), zk.WithLogger(silent{}), zk.WithLogInfo(false))
		ok(t, err)
		t.Cleanup(conn.Close)
		foreign, err := conn.Create(e.dir()+"/n_", []byte("by hand"), zk.FlagEphemeral|zk.FlagSequence,
			zk.WorldACL(zk.PermAll))
		ok(t, err)
		last := candidate(t, e, "n_", "waiting")
		first.close()
		if !strings.HasSuffix(foreign, "/n_0000000001") || e.watches(foreign) != 1 || last.HasLeadership() {
			t.Fatalf("%s is watched by %d", foreign, e.watches(foreign))
		}
		e.remove(foreign)
		last.lead().Release()
	})
}

func TestPrefixesInOneDirectoryAreLinesOfTheirOwn(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		for _, prefix := range []string{"n_", "n_x", "n", "", "n_1", "latch"} {
			el := c.newElection(e.dir(), prefix)
			ok(t, el.Start())
			el.settled("leading")
			if !regexp.MustCompile(`/` + prefix + `\d{10}$`).MatchString(el.node()) {
				t.Errorf("%q makes %s", prefix, el.node())
			}
		}
		behind := candidate(t, e, "", "waiting")
		all, err := behind.Participants(behind.c.ctx)
		ok(t, err)
		if len(all) != 2 || all[0].Prefix != "" || all[0].Recipe != "election" || !all[0].First ||
			all[1].Path != behind.node() {
			t.Errorf("the line of the empty prefix is %+v", all)
		}
	})
}

func TestOneClientHasOnePlaceInAnElection(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	first := c.newElection(e.dir(), "n_")
	_, err := c.Election(e.dir(), "n_", incumbent.LatchOptions{})
	is(t, err, incumbent.ErrAlreadyInElection)
	c.newElection(e.dir(), "m_").close()
	ok(t, first.Start())
	first.settled("leading")
	first.close()
	again := c.newElection(e.dir(), "n_")
	ok(t, again.Start())
	again.settled("leading")

	for _, prefix := range []string{"a/b", "/", "_c_", "_c_x", "\x00", "a\u0085"} {
		if _, err := c.Election(e.dir(), prefix, incumbent.LatchOptions{}); err == nil {
			t.Errorf("the prefix %q is taken", prefix)
		}
	}
	if _, err := c.Election("no-slash", "n_", incumbent.LatchOptions{}); err == nil {
		t.Error("a path without a slash is taken")
	}
}

func TestNoGuardedWriteUnderAPlainName(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		held := candidate(t, e, "n_", "leading").lead()
		_, err := held.Write(held.Context(), incumbent.CreateNode(e.dir()+"/written", nil))
		is(t, err, incumbent.ErrPlainName)
		if len(e.children(e.dir())) != 1 {
			t.Error("it was written nevertheless")
		}
		held.Release()
	})
}

// TestALostCreateReplyIsFoundByItsOwner loses the reply to the create in a line
// of several, and in the reply's place the session is back on a new connection.
func TestALostCreateReplyIsFoundByItsOwner(t *testing.T) {
	for what, action := range map[string]zkmem.Action{"made": zkmem.CutAfter, "not made": zkmem.CutBefore} {
		t.Run(what, func(t *testing.T) {
			e := inMemory(t)
			first := candidate(t, e, "n_", "leading")
			e.create(e.dir()+"/n_", "by hand", 2)
			e.create(e.dir()+"/n_x", "by hand", 2)
			c := connected(t, e)
			var creates atomic.Int64
			plain := func(r zkmem.Request) bool { return r.Op == zkmem.OpCreate && strings.HasSuffix(r.Path, "/n_") }
			t.Cleanup(e.Intercept(func(r zkmem.Request) zkmem.Verdict {
				if plain(r) {
					creates.Add(1)
				}
				return zkmem.Verdict{}
			}))
			e.once(plain, verdict(zkmem.Verdict{Action: action}))
			lost := c.newElection(e.dir(), "n_")
			ok(t, lost.Start())
			lost.settled("blocked") // behind the persistent node, which was made by hand
			third := candidate(t, e, "n_", "waiting")
			want := map[zkmem.Action]int64{zkmem.CutAfter: 2, zkmem.CutBefore: 3}[action] // with the third's own
			if got := creates.Load(); got != want {
				t.Fatalf("%d creates, want %d", got, want)
			}
			e.untilChildren(e.dir(), 5)
			e.remove(e.dir() + "/n_0000000001")
			lost.settled("waiting")
			first.close()
			lost.lead().Release()
			if third.HasLeadership() {
				t.Fatal("two believe")
			}
			lost.close()
			third.lead().Release()
			e.untilChildren(e.dir(), 2)
		})
	}
}

// TestAnothersNodeOfTheSameNameIsNotDeleted: while the candidate is away, the
// directory is created again and hands out the same name.
func TestAnothersNodeOfTheSameNameIsNotDeleted(t *testing.T) {
	e := inMemory(t)
	el := candidate(t, e, "n_", "leading")
	node := el.node()
	e.RefuseConnections(true)
	el.c.cut()
	e.remove(node)
	e.remove(e.dir())
	e.create(e.dir(), "", 0)
	if got := e.create(e.dir()+"/n_", "another", 2); got != node {
		t.Fatalf("the name is %s, and was %s", got, node)
	}
	closed := make(chan error, 1)
	go func() { closed <- el.Close(el.c.ctx) }()
	el.state("leaving")
	e.RefuseConnections(false)
	ok(t, recv(t, closed, "Close"))
	if got := e.children(e.dir()); !slices.Equal(got, []string{"n_0000000000"}) {
		t.Fatalf("left are %q", got)
	}
}

func TestAnElectionSeenFromOutside(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		first, second := candidate(t, e, "n_", "leading"), candidate(t, e, "n_", "waiting")
		c.start(e.dir(), "leading")
		line, err := c.Line(c.ctx, e.dir())
		ok(t, err)
		if len(line.Participants) != 1 || line.Foreign != 2 {
			t.Fatalf("without the prefix: %+v", line)
		}
		line, err = c.Line(c.ctx, e.dir(), "n_", "n_", "x_")
		ok(t, err)
		if len(line.Participants) != 3 || line.Foreign != 0 || line.Participants[1].Path != first.node() ||
			line.Participants[2].Path != second.node() ||
			!line.Participants[1].First || line.Participants[2].First || line.Participants[1].Recipe != "election" {
			t.Fatalf("with the prefix: %+v", line)
		}
		leader, there, err := second.First(c.ctx)
		ok(t, err)
		if !there || leader.Path != first.node() {
			t.Fatalf("the candidate's leader is %+v, although the directory has a latch too", leader)
		}
		if _, err := c.Line(c.ctx, e.dir(), "a/b"); err == nil {
			t.Error("a prefix with a slash is taken")
		}

		var seen []string
		for change, err := range c.Watch(c.ctx, e.dir(), "n_") {
			ok(t, err)
			if change.Recipe != "election" {
				continue
			}
			switch {
			case change.Vacant:
				seen = append(seen, change.Prefix+" vacant")
			default:
				seen = append(seen, change.First.Path)
			}
			if change.Vacant {
				break
			}
			if change.First.Path == first.node() {
				first.close()
			} else {
				second.close()
			}
		}
		if want := []string{first.node(), second.node(), "n_ vacant"}; !slices.Equal(seen, want) {
			t.Fatalf("seen %q, want %q", seen, want)
		}
		for _, err := range c.Watch(c.ctx, e.dir(), "a/b") {
			if err == nil {
				t.Error("a prefix with a slash is watched")
			}
		}
	})
}

func TestACandidateThatResignsQueuesAtTheTail(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		first, second := candidate(t, e, "n_", "leading"), candidate(t, e, "n_", "waiting")
		held := first.lead()
		resigned := make(chan error, 1)
		go func() { resigned <- first.Resign(first.c.ctx) }()
		<-held.Context().Done()
		is(t, held.Check(), incumbent.ErrLeadershipLost)
		held.Release()
		ok(t, recv(t, resigned, "Resign"))
		second.lead().Release()
		first.settled("waiting")
		if err := second.Resign(second.c.ctx); err != nil && !errors.Is(err, incumbent.ErrNotLeading) {
			t.Fatal(err)
		}
		first.lead().Release()
	})
}
