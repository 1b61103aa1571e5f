package world

import (
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// life is a world of three latches, five seconds old.
func life(t *testing.T) (*World, *Ensemble) {
	t.Helper()
	w := play(t, three("latch"), 5*time.Second).w
	return w, w.Ensemble()
}

// written returns how long a write of an operator takes, at most a while.
func written(e *Ensemble, path string, most time.Duration) time.Duration {
	begun := e.w.Now()
	e.Operate(zkmem.Op{Code: zkmem.OpCreate, Path: path, ACL: zkmem.OpenACL()})
	for !e.Committed().Exists(path) && e.w.Now() < begun+int64(most) {
		e.w.Until(e.w.Now() + int64(time.Millisecond))
	}
	return time.Duration(e.w.Now() - begun)
}

// TestAQuorumOfDisksDecides slows disks down, one after the other: the two fastest decide.
func TestAQuorumOfDisksDecides(t *testing.T) {
	const slow = 700 * time.Millisecond
	_, e := life(t)
	order := []*Server{e.Leader()}
	for _, s := range e.Servers() {
		if s != e.Leader() {
			order = append(order, s)
		}
	}
	for i, want := range []time.Duration{0, slow, slow} {
		order[i].SlowFsync(slow, time.Minute)
		took := written(e, "/w"+string(rune('0'+i)), 10*time.Second)
		if took < want || want == 0 && took > 20*time.Millisecond {
			t.Errorf("with %d slow disks of %s, a write took %s", i+1, slow, took)
		}
		if serves := i == 0; e.Serves() != serves {
			t.Errorf("with %d slow disks, the ensemble serves: %t", i+1, !serves)
		}
	}
}

// TestALeaderGivesUpASlowDisk has the disks of followers take longer than syncLimit: the
// leader ends its connection to them, and with it those of their clients. Two such followers
// end the leader's term.
func TestALeaderGivesUpASlowDisk(t *testing.T) {
	for slow := 1; slow < Servers; slow++ {
		w, e := life(t)
		leader, term := e.Leader(), e.Term()
		by := e.syncLimit() + time.Second
		for i := range slow {
			e.Servers()[(leader.ID()+1+i)%Servers].SlowFsync(by, time.Minute)
		}
		written(e, "/one", time.Millisecond)
		w.Until(w.Now() + int64(e.syncLimit()+w.script.Tick))
		for i := range slow {
			if s := e.Servers()[(leader.ID()+1+i)%Servers]; s.Serving() {
				t.Errorf("with %d slow disks, server %d serves", slow, s.ID())
			}
		}
		if ended := !leader.Leads(); ended != (slow == 2) || e.Term() != term {
			t.Errorf("with %d slow disks, the leader stopped: %t; term %d, was %d", slow, ended, e.Term(), term)
		}
		w.Until(w.Now() + int64(time.Minute+by+w.script.Tick))
		if _, err := e.WholeLeader(); err != nil {
			t.Errorf("%d disks are fast again, and %s", slow, err)
		}
	}
}

// TestZxidsRunOut has a leader come to the last zxid of its epoch. No transaction gets it, the
// next epoch begins, and no session ends. Late epochs still have positive zxids.
func TestZxidsRunOut(t *testing.T) {
	for _, late := range []bool{false, true} {
		w, e := life(t)
		if late {
			e.SkipEpochs(10)
		}
		term, sessions := e.Term(), len(e.Committed().Sessions())
		if err := e.ExhaustZxids(3); err != nil {
			t.Fatal(err)
		}
		highest, begun := e.Committed().Zxid(), len(e.history)
		w.Until(w.Now() + int64(w.script.Timeout))
		for _, txn := range e.history[begun:] {
			if txn.Zxid&lastCounter == lastCounter || txn.Zxid <= highest {
				t.Fatalf("transaction %x after %x", txn.Zxid, highest)
			}
			highest = txn.Zxid
		}
		if e.Rollovers() != 1 || e.Term() != term+1 || late != (highest>>32 > lastEpoch-10) {
			t.Errorf("late epochs %t: %d leaders stopped, term %d after %d, now at %x", late, e.Rollovers(),
				e.Term(), term, highest)
		}
		if n := len(e.Committed().Sessions()); n != sessions {
			t.Errorf("%d sessions, want %d", n, sessions)
		}
	}
}

// TestARemovedServerServesWithoutAVote removes a follower, then the leader. Both go on as
// followers. A removed leader commits nothing more, and its last answers are a tick away.
func TestARemovedServerServesWithoutAVote(t *testing.T) {
	w, e := life(t)
	second := func() { w.Until(w.Now() + int64(time.Second)) }
	for _, leads := range []bool{false, true} {
		s := e.Leader()
		if !leads {
			s = e.Servers()[(s.ID()+1)%Servers]
		}
		term := e.Term()
		if err := s.Remove(); err != nil {
			t.Fatal(err)
		}
		w.Until(w.Now() + int64(w.script.Tick*3))
		if s.Votes() || !s.Serving() || s.Leads() || (e.Term() != term) != leads {
			t.Errorf("removed leader %t: it votes %t, serves %t, leads %t; term %d, was %d", leads, s.Votes(),
				s.Serving(), s.Leads(), e.Term(), term)
		}
		if _, err := e.WholeLeader(); err == nil || e.Voters() != 2 || !e.Serves() {
			t.Errorf("an ensemble of %d servers is whole (%v) or does not serve", e.Voters(), err)
		}
		if err := s.AddBack(); err != nil {
			t.Fatal(err)
		}
		second()
		if _, err := e.WholeLeader(); err != nil || !s.Votes() {
			t.Errorf("added back, it votes: %t; %v", s.Votes(), err)
		}
		second()
	}
}

// TestContainersAreReaped reaps a container that is empty, and none that has a child or gets
// one by a create that was proposed before.
func TestContainersAreReaped(t *testing.T) {
	w, e := life(t)
	c := w.Clients()[0]
	send := func(r events.Request) { c.Send(&Packet{Request: r, Done: func(*Packet) {}}) }
	call := events.Call{Session: c.Session()}
	send(events.Create{Call: call, Path: "/c", Mode: events.Container})
	w.Until(w.Now() + int64(time.Second))
	if n := e.ReapContainers(); n != 0 {
		t.Errorf("reaped %d containers that never had a child", n)
	}
	written(e, "/c/child", time.Second)
	e.Operate(zkmem.Op{Code: zkmem.OpDelete, Path: "/c/child", Version: zkmem.AnyVersion})
	w.Until(w.Now() + int64(time.Second))
	e.Operate(zkmem.Op{Code: zkmem.OpCreate, Path: "/c/late", ACL: zkmem.OpenACL()})
	if n := e.ReapContainers(); n != 1 {
		t.Errorf("asked for the end of %d containers, want 1", n)
	}
	w.Until(w.Now() + int64(time.Second))
	if !e.Committed().Exists("/c") || !e.Committed().Exists("/c/late") {
		t.Error("a container was reaped with a child in it")
	}
	e.Operate(zkmem.Op{Code: zkmem.OpDelete, Path: "/c/late", Version: zkmem.AnyVersion})
	w.Until(w.Now() + int64(time.Second))
	e.ReapContainers()
	w.Until(w.Now() + int64(time.Second))
	if e.Committed().Exists("/c") {
		t.Error("an empty container was not reaped")
	}
}
