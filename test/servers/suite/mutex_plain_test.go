package suite

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent"
)

// The nodes of a plain mutex are a prefix and a number, and what others make like this is waited for and waits.
func TestAPlainMutexIsInTheLineOfHandMadeLocks(t *testing.T) {
	for _, prefix := range []string{"", "n_", "lock-"} {
		t.Run("prefix "+prefix, func(t *testing.T) {
			both(t, func(t *testing.T, e ensemble) {
				c := connected(t, e)
				m, err := c.Mutex(e.dir(), incumbent.MutexOptions{Plain: true, Prefix: prefix, ID: "ours"})
				ok(t, err)
				hold, err := m.Lock(c.ctx)
				ok(t, err)
				if name := hold.Term().Path; !regexp.MustCompile(`/` + prefix + `\d{10}$`).MatchString(name) {
					t.Errorf("the node is %s", name)
				}
				if all, err := m.Participants(c.ctx); err != nil || len(all) != 1 ||
					all[0].ID != "ours" || !all[0].First {
					t.Errorf("%+v, %v", all, err)
				}
				_, err = hold.Write(c.ctx)
				is(t, err, incumbent.ErrPlainName)
				conn, _, err := zk.Connect([]string{e.servers()}, e.timeout(), zk.WithLogger(silent{}),
					zk.WithLogInfo(false))
				ok(t, err)
				t.Cleanup(conn.Close)
				theirs, err := conn.Create(e.dir()+"/"+prefix, nil, zk.FlagEphemeral|zk.FlagSequence,
					zk.WorldACL(zk.PermAll))
				ok(t, err)
				ok(t, hold.Unlock(c.ctx))
				if hold, held, err := m.TryLock(c.ctx); held || err != nil {
					t.Fatalf("%v, %t, %v: %s holds", hold, held, err, theirs)
				}
				e.remove(theirs)
				hold, held, err := m.TryLock(c.ctx)
				if !held || err != nil {
					t.Fatalf("%t, %v: nobody holds", held, err)
				}
				ok(t, hold.Unlock(c.ctx))
			})
		})
	}
}

// A client has one place in such a line. Its second Lock waits without a node, and its TryLock is refused.
func TestAClientHasOnePlaceInTheLineOfAPlainMutex(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	m, err := c.Mutex(e.dir(), incumbent.MutexOptions{Plain: true})
	ok(t, err)
	hold, err := m.Lock(c.ctx)
	ok(t, err)
	_, held, err := m.TryLock(c.ctx)
	ok(t, err)
	if held {
		t.Fatal("two holders")
	}
	_, err = c.Election(e.dir(), "", incumbent.LatchOptions{})
	is(t, err, incumbent.ErrAlreadyInElection)
	ended, cancel := context.WithCancel(c.ctx)
	got := make(chan error, 1)
	go func() {
		_, err := m.Lock(ended)
		got <- err
	}()
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("the second Lock ends with %v", err)
	}
	second := make(chan *incumbent.Hold, 1)
	go func() {
		hold, err := m.Lock(c.ctx)
		if err != nil {
			t.Error(err)
		}
		second <- hold
	}()
	if names := e.children(e.dir()); len(names) != 1 {
		t.Errorf("in the line are %q", names)
	}
	ok(t, hold.Unlock(c.ctx))
	if hold = <-second; hold != nil {
		ok(t, hold.Unlock(c.ctx))
	}
}

func TestNamesOfALockThatContradictEachOther(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	for want, o := range map[string]incumbent.MutexOptions{
		"both set": {Plain: true, Kazoo: true}, "without Plain": {Prefix: "n_"}, "_c_": {Plain: true, Prefix: "_c_"},
		"a/b": {Plain: true, Prefix: "a/b"},
	} {
		if _, err := c.Mutex(e.dir(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
	if _, err := c.ReadWriteLock(e.dir(), incumbent.MutexOptions{Plain: true}); err == nil {
		t.Error("a read-write lock is plain")
	}
}
