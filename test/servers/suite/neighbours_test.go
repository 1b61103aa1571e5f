package suite

import (
	"math"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent"
)

// lockOfGoZookeeper returns go-zookeeper's Lock at the ensemble's line, on a connection of its own.
func lockOfGoZookeeper(t *testing.T, e ensemble) *zk.Lock {
	t.Helper()
	conn, _, err := zk.Connect([]string{e.servers()}, e.timeout(), zk.WithLogger(silent{}), zk.WithLogInfo(false))
	ok(t, err)
	t.Cleanup(conn.Close)
	return zk.NewLock(conn, e.dir(), zk.WorldACL(zk.PermAll))
}

// go-zookeeper's Lock and a Mutex wait for each other, and everybody who looks at the line sees both.
func TestALockOfGoZookeeperIsInTheLine(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c, theirs := connected(t, e), lockOfGoZookeeper(t, e)
		ok(t, theirs.Lock())
		m, err := c.Mutex(e.dir(), incumbent.MutexOptions{ID: "ours"})
		ok(t, err)
		if hold, held, err := m.TryLock(c.ctx); held || err != nil {
			t.Fatalf("TryLock while the other holds: %v, %t, %v", hold, held, err)
		}
		line, err := c.Line(c.ctx, e.dir())
		ok(t, err)
		first, there := line.First()
		if !there || line.Foreign != 0 || first.Recipe != "lock" || first.Prefix != "lock-" {
			t.Fatalf("the line is %+v", line)
		}
		for change, err := range c.Watch(c.ctx, e.dir()) {
			ok(t, err)
			if change.First.Path != first.Path {
				t.Errorf("the first is %+v, want %s", change, first.Path)
			}
			break
		}
		held := make(chan *incumbent.Hold, 1)
		go func() {
			hold, err := m.Lock(c.ctx)
			if err != nil {
				t.Error(err)
			}
			held <- hold
		}()
		e.untilChildren(e.dir(), 2)
		select {
		case <-held:
			t.Fatal("two holders")
		default:
		}
		ok(t, theirs.Unlock())
		hold := <-held
		if hold == nil {
			t.FailNow()
		}
		got := make(chan error, 1)
		go func() { got <- theirs.Lock() }()
		e.untilChildren(e.dir(), 2)
		ok(t, hold.Check())
		ok(t, hold.Unlock(c.ctx))
		ok(t, <-got)
		ok(t, theirs.Unlock())
	})
}

// An empty prefix is a value: the line whose names are only a number is watched.
func TestAnElectionWithoutAPrefixIsSeenFromOutside(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		leader := candidate(t, e, "", "leading")
		behind := candidate(t, e, "", "waiting")
		line, err := leader.c.Line(leader.c.ctx, e.dir(), "")
		ok(t, err)
		if all := line.Participants; len(all) != 2 || !all[0].First || all[1].First || all[1].Path != behind.node() {
			t.Errorf("%+v", all)
		}
		for change, err := range leader.c.Watch(leader.c.ctx, e.dir(), "") {
			ok(t, err)
			if change.Vacant || change.First.Path != leader.node() || change.Recipe != "election" ||
				change.Prefix != "" {
				t.Errorf("%+v, want %s", change, leader.node())
			}
			break
		}
	})
}

// Only -1 means any version: versions of data wrap to negative numbers.
func TestAGuaranteedDeleteOfANegativeVersionDeletesNoOther(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		for _, version := range []int32{-2, -5, math.MinInt32} {
			_, err := c.Create(e.dir(), nil).Parents().Do(c.ctx)
			ok(t, err)
			d, err := c.Delete(e.dir()).Version(version).Guaranteed()
			ok(t, err)
			if err := d.Wait(c.ctx); err == nil {
				t.Errorf("version 0 was deleted as version %d", version)
				continue
			}
			ok(t, c.Delete(e.dir()).Do(c.ctx))
		}
	})
}
