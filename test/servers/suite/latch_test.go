package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
)

func TestFiveLatchesLeadInTheOrderTheyCame(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		var latches []latch
		for i := range 5 {
			state := "waiting"
			if i == 0 {
				state = "leading"
			}
			latches = append(latches, connected(t, e).start(e.dir(), state))
		}
		order := make(chan int, 5)
		for i, l := range latches {
			go func() {
				held, err := l.Await(l.c.ctx)
				if err != nil {
					t.Error(err)
					return
				}
				order <- i
				held.Release()
			}()
		}
		var last int64
		for i, l := range latches {
			if got := recv(t, order, "a leader"); got != i {
				t.Fatalf("latch %d leads as number %d", got, i)
			}
			held := l.lead()
			if held.Token() <= last || held.Check() != nil || !l.HasLeadership() {
				t.Fatalf("token %d after %d, %v", held.Token(), last, held.Check())
			}
			last = held.Token()
			for _, other := range latches[i+1:] {
				if other.HasLeadership() {
					t.Fatal("two believe")
				}
			}
			held.Release()
			l.close()
		}
		if left := e.children(e.dir()); len(left) != 0 {
			t.Fatalf("left behind: %q", left)
		}
	})
}

func TestCloseAwaitsTheWorkAndOnlyThenTheNextLeads(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		first := connected(t, e).start(e.dir(), "leading")
		second := connected(t, e).start(e.dir(), "waiting")
		held := first.lead()

		is(t, first.Close(brief()), incumbent.ErrWorkRunning)
		<-held.Context().Done()
		is(t, context.Cause(held.Context()), incumbent.ErrLeadershipLost)
		is(t, held.Check(), incumbent.ErrLeadershipLost)
		first.state("draining")
		if n := len(e.children(e.dir())); n != 2 {
			t.Fatalf("%d nodes while the work runs, want both", n)
		}
		if second.HasLeadership() || second.Phase() != "waiting" {
			t.Fatal("the next leads while the work is running")
		}
		is(t, first.c.Close(brief()), incumbent.ErrWorkRunning)

		held.Release()
		held.Release()
		first.close()
		second.lead().Release()
		if first.State() != incumbent.Closed {
			t.Fatal(first.State())
		}
	})
}

func TestCloseWithoutWorkDeletesTheNode(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		l := connected(t, e).start(e.dir(), "leading")
		seen := watch(l.AddListener)
		seen.until(t, "started")
		l.close()
		seen.until(t, "started", "stopped")
		if left := e.children(e.dir()); len(left) != 0 {
			t.Fatalf("left behind: %q", left)
		}
		_, err := l.Await(l.c.ctx)
		is(t, err, incumbent.ErrClosed)
	})
}

func TestSilentCloseTellsNoListenerButEndsTheWork(t *testing.T) {
	e := inMemory(t)
	l := connected(t, e).start(e.dir(), "leading")
	seen := watch(l.AddListener)
	seen.until(t, "started")
	held := l.lead()
	context.AfterFunc(held.Context(), held.Release)
	ok(t, l.CloseWith(l.c.ctx, incumbent.Silent))
	is(t, context.Cause(held.Context()), incumbent.ErrLeadershipLost)
	if got := seen.all(); !slices.Equal(got, []string{"started"}) {
		t.Fatal(got)
	}
}

func TestALeaderWhoseNodeIsDeletedQueuesAtTheTail(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		first := connected(t, e).start(e.dir(), "leading")
		second := connected(t, e).start(e.dir(), "waiting")
		seen := watch(first.AddListener)
		held := first.lead()
		old := held.Term().Path

		e.remove(old)
		<-held.Context().Done()
		is(t, held.Check(), incumbent.ErrLeadershipLost)
		next := second.lead()
		first.state("draining")
		if next.Token() <= held.Token() {
			t.Fatalf("token %d after %d", next.Token(), held.Token())
		}
		if n := len(e.children(e.dir())); n != 1 {
			t.Fatalf("%d nodes: the participant enrolled while its work was running", n)
		}
		held.Release()
		first.enrolled(2)
		first.settled("waiting")
		if first.node() == old {
			t.Fatal("the node is the old one")
		}
		seen.until(t, "started", "stopped")
		next.Release()
		second.close()
		first.lead().Release()
		seen.until(t, "started", "stopped", "started")
	})
}

func TestAWaiterWhoseNodeIsDeletedQueuesAtTheTail(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		first := connected(t, e).start(e.dir(), "leading")
		second := connected(t, e).start(e.dir(), "waiting")
		third := connected(t, e).start(e.dir(), "waiting")
		old := second.node()
		e.remove(old)
		second.enrolled(2)
		second.settled("waiting")
		third.settled("waiting")
		first.close()
		third.lead().Release()
		third.close()
		second.lead().Release()
	})
}

func TestDataSetOnTheOwnOrThePredecessorsNodeDeafensNobody(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		first := connected(t, e).start(e.dir(), "leading")
		second := connected(t, e).start(e.dir(), "waiting")
		changes := func() int {
			return second.c.tape.Count(func(r events.Record) bool {
				return r.Event.Kind == events.WatchChanged && r.Row != events.RowLate
			})
		}
		for i := range 5 {
			e.set(first.node(), fmt.Sprint("predecessor", i))
			e.set(second.node(), fmt.Sprint("own", i))
			second.c.tape.Until("both changes, and both watches again", func(records []events.Record) bool {
				return armedAgain(records, second.id) >= 2*(i+1)
			})
		}
		if n := changes(); n != 10 {
			t.Fatalf("%d changes were reported, want 10", n)
		}
		for _, node := range []string{first.node(), second.node()} {
			if n := e.watches(node); n == 0 {
				t.Fatalf("nobody watches %s any more", node)
			}
		}
		first.close()
		second.lead().Release()
		e.remove(second.node())
		second.c.tape.Until("the leader to see its own deletion", func(records []events.Record) bool {
			return slices.ContainsFunc(records, func(r events.Record) bool {
				return r.Machine == second.id && r.From == "leading" && r.Event.Kind == events.WatchDeleted
			})
		})
	})
}

// armedAgain counts reads that followed a change of data and came back well.
func armedAgain(records []events.Record, id events.ID) (n int) {
	changes := map[uint64]bool{}
	for _, r := range records {
		if r.Machine != id {
			continue
		}
		if r.Event.Kind == events.WatchChanged {
			changes[r.Seq] = true
		}
		if r.Event.Kind == events.ReplyStat && changes[r.Cause] && r.Event.Code == events.OK {
			n++
		}
	}
	return n
}

func TestForeignChildrenAreIgnoredAndCounted(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		founder := connected(t, e).start(e.dir(), "leading")
		foreign := []string{"0", "lock-abc", "latch-", "latch-12", "_c_short", "_c_short-latch-000000000",
			"read-0000000000", "lock-0000000000", "Latch-0000000000"}
		for _, name := range foreign {
			e.create(e.dir()+"/"+name, "\x1b[31m<script>", 0)
		}
		second := connected(t, e).start(e.dir(), "waiting")
		line, err := second.c.Line(second.c.ctx, e.dir())
		ok(t, err)
		latches := 0
		for _, p := range line.Participants {
			if p.Recipe == "latch" {
				latches++
			}
		}
		// lock-0000000000 is a selector's name: another recipe's line.
		if line.Foreign != len(foreign)-1 || latches != 2 || len(line.Participants) != 3 {
			t.Fatalf("%d foreign, %d latches, %+v", line.Foreign, latches, line)
		}
		founder.close()
		second.lead().Release()
		second.close()
		for _, name := range foreign {
			e.remove(e.dir() + "/" + name)
		}
	})
}

func TestParticipantsAndLeaderFromOutside(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		if line, err := c.Line(c.ctx, e.dir()); err != nil || len(line.Participants) != 0 {
			t.Fatalf("a missing directory is an empty line: %+v, %v", line, err)
		}
		var latches []latch
		for i, id := range []string{"a", "", "c\x1b[2J"} {
			l := c.newLatch(e.dir(), incumbent.LatchOptions{ID: id})
			ok(t, l.Start())
			l.state([]string{"leading", "waiting", "waiting"}[i])
			latches = append(latches, l)
		}
		all, err := latches[2].Participants(c.ctx)
		ok(t, err)
		for i, p := range all {
			l := latches[i]
			if p.ID != l.ID() || p.Path != l.node() || p.First != (i == 0) || p.Owner == 0 ||
				p.Recipe != "latch" || p.Err != nil {
				t.Errorf("participant %d is %+v", i, p)
			}
			if i > 0 && p.Token <= all[i-1].Token {
				t.Error("tokens do not grow along the line")
			}
		}
		leader, there, err := latches[1].First(c.ctx)
		ok(t, err)
		if !there || leader.ID != "a" || !strings.HasPrefix(leader.Path, e.dir()+"/_c_") || len(all) != 3 {
			t.Fatalf("leader %+v, %t of %d", leader, there, len(all))
		}
	})
}

func TestResignQueuesAtTheTail(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		first := connected(t, e).start(e.dir(), "leading")
		second := connected(t, e).start(e.dir(), "waiting")
		is(t, second.Resign(second.c.ctx), incumbent.ErrNotLeading)
		held := first.lead()
		resigned := make(chan error, 1)
		go func() { resigned <- first.Resign(first.c.ctx) }()
		<-held.Context().Done()
		if second.HasLeadership() {
			t.Fatal("the next leads while the work is running")
		}
		held.Release()
		ok(t, recv(t, resigned, "Resign"))
		second.lead().Release()
		first.settled("waiting")
		ok(t, second.Resign(second.c.ctx))
		first.lead().Release()
	})
}

func TestACancelledAwaitLeavesTheLatchInLine(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		first := connected(t, e).start(e.dir(), "leading")
		second := connected(t, e).start(e.dir(), "waiting")
		ctx, cancel := context.WithCancelCause(context.Background())
		got := make(chan error, 1)
		go func() { _, err := second.Await(ctx); got <- err }()
		second.c.tape.Until("the await", func(r []events.Record) bool {
			return slices.ContainsFunc(r, func(r events.Record) bool { return r.Event.Kind == events.CommandAwait })
		})
		enough := errors.New("enough")
		cancel(enough)
		is(t, recv(t, got, "Await"), enough)
		if n := len(e.children(e.dir())); n != 2 {
			t.Fatalf("%d nodes: the place in line went with the await", n)
		}
		first.close()
		second.state("leading")
		second.close()
		if left := e.children(e.dir()); len(left) != 0 {
			t.Fatalf("left behind: %q", left)
		}
	})
}
