package door_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// leaderLog is what one loop over WatchLeader gets.
type leaderLog struct {
	t     *testing.T
	mu    sync.Mutex
	lines []string
	err   error
}

// logLeaders begins a loop over WatchLeader, which ends with the test.
func logLeaders(t *testing.T, n *node, path string, prefixes ...string) *leaderLog {
	t.Helper()
	log, done := &leaderLog{t: t}, make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(done)
		for l, err := range n.WatchLeader(ctx, path, prefixes...) {
			log.mu.Lock()
			log.lines, log.err = append(log.lines, leaderLine(l)), errors.Join(l.Err, err)
			log.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return log
}

// lastError returns the error in the last value.
func (l *leaderLog) lastError() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// leaderLine is a value in one line.
func leaderLine(l incumbent.Leader) string {
	words := []string{fmt.Sprintf("%s<%s>", l.First.ID, l.Address)}
	for word, is := range map[string]bool{"vacant": l.Vacant, "blocked": l.Blocker.Path != "", "unknown": l.Unknown,
		"unconfirmed": !l.Unconfirmed.IsZero(), "error": l.Err != nil} {
		if is {
			words = append(words, word)
		}
	}
	slices.Sort(words[1:])
	return strings.Join(words, " ")
}

// gets wants these values, since the last call.
func (l *leaderLog) gets(when string, want ...string) {
	l.t.Helper()
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Equal(l.lines, want) {
		l.t.Errorf("%s it yields %q, want %q", when, l.lines, want)
	}
	l.lines = nil
}

// A feed of leaders has each with its address, says when its answer is unconfirmed, and that nothing is known once the
// session must be assumed to be over.
func TestWatchLeaderSaysWhatIsKnown(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		reader, n := w.open(), w.open()
		log := logLeaders(t, reader, "/line")
		log.gets("of an empty line", "<> vacant")
		a := advertising(t, n, "host-a:1")
		log.gets("of the first leader", "host-a:1<host-a:1>")
		advertising(t, n, "host-b:1")
		if err := a.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		log.gets("when leadership moves", "host-b:1<host-b:1>")
		w.refuse(reader, true)
		reader.cut()
		log.gets("when its connection ends", "host-b:1<host-b:1> error unconfirmed")
		mustBe(t, log.lastError(), incumbent.ErrNotConnected)
		pass(15 * time.Second)
		log.gets("after a session timeout", "<> error unconfirmed unknown")
		w.refuse(reader, false)
		pass(time.Minute)
		log.gets("after the reconnect", "host-b:1<host-b:1>")
	})
}

// unreadable lets others do all but read.
func unreadable() []incumbent.ACL {
	list := readOnly()
	list[0].Perms = incumbent.PermWrite | incumbent.PermCreate | incumbent.PermDelete
	return list
}

// A line that may not be read any more is as one without a connection: the leader is given up after a session timeout.
func TestWatchLeaderGivesUpAnUnreadableLine(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		owner, reader, n := w.open(identified(t, "secret:word")), w.open(), w.open()
		must(owner.Create("/line", nil).ACL(incumbent.WorldAll()...).Do(t.Context()))
		log := logLeaders(t, reader, "/line")
		log.gets("of an empty line", "<> vacant")
		a, _ := advertising(t, n, "host-a:1"), advertising(t, n, "host-b:1")
		log.gets("of the first leader", "host-a:1<host-a:1>")
		must(owner.SetACL(t.Context(), "/line", unreadable(), 0))
		if err := a.Close(t.Context()); err != nil { // the reader lists the line, and is refused
			t.Fatal(err)
		}
		log.gets("when it is refused", "host-a:1<host-a:1> error unconfirmed")
		mustBe(t, log.lastError(), incumbent.ErrNoAuth)
		pass(14 * time.Second)
		log.gets("before a session timeout")
		pass(time.Second)
		log.gets("after a session timeout", "<> error unconfirmed unknown")
		late := logLeaders(t, reader, "/line")
		late.gets("of a line that it cannot read", "<> error unconfirmed unknown")
		mustBe(t, late.lastError(), incumbent.ErrNoAuth)
		must(owner.SetACL(t.Context(), "/line", incumbent.WorldAll(), 1))
		pass(time.Minute)
		log.gets("with the right again", "host-b:1<host-b:1>")
		late.gets("with the right at last", "host-b:1<host-b:1>")
	})
}

// A line that is refused for less than a session timeout, and has the same leader then, is confirmed again.
func TestWatchLeaderConfirmsTheSameLeaderAgain(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		owner, reader, n := w.open(identified(t, "secret:word")), w.open(), w.open()
		must(owner.Create("/line", nil).ACL(incumbent.WorldAll()...).Do(t.Context()))
		a := advertising(t, n, "host-a:1")
		log := logLeaders(t, reader, "/line")
		log.gets("of the leader", "host-a:1<host-a:1>")
		first, _, _ := a.First(t.Context())
		must(owner.SetACL(t.Context(), first.Path, unreadable(), 0))
		must(owner.Set(first.Path, []byte("other")).Do(t.Context()))
		pass(6 * time.Second) // no watch fires for who may not read
		log.gets("when it is refused", "host-a:1<host-a:1> error unconfirmed")
		must(owner.SetACL(t.Context(), first.Path, incumbent.WorldAll(), 1))
		pass(time.Minute)
		log.gets("with the right again", "host-a:1<host-a:1>")
	})
}

// Where two lines have a first each, no one leads the path.
func TestWatchLeaderOfSeveralLines(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		reader, n := w.open(), w.open()
		log := logLeaders(t, reader, "/line", "n_")
		log.gets("of an empty line", "<> vacant")
		a := advertising(t, n, "host-a:1")
		e := must(n.Election("/line", "n_", incumbent.LatchOptions{ID: "plain", Advertise: "host-b:1"}))
		if err := e.Start(); err != nil {
			t.Fatal(err)
		}
		log.gets("of two lines", "host-a:1<host-a:1>", "<> error")
		mustSay(t, log.lastError(), "/line has several lines", "latch", "election")
		logLeaders(t, reader, "/line", "n_").gets("from the beginning", "<> error")
		logLeaders(t, reader, "/line").gets("of the lines that were asked for", "host-a:1<host-a:1>")
		if err := a.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		log.gets("of the one that is left", "plain<host-b:1>")
		if err := e.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		log.gets("of none", "<> vacant")
	})
}

// A client that reaches no server says after a session timeout that nothing is known.
func TestWatchLeaderWithoutAServer(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		var up atomic.Bool
		reader := w.open(comesLater(&up))
		log := logLeaders(t, reader, "/line")
		pass(14 * time.Second)
		log.gets("before a session timeout")
		pass(time.Second)
		log.gets("after it", "<> error unconfirmed unknown")
		mustSay(t, log.lastError(), "no route to host")
		up.Store(true)
		pass(time.Minute)
		log.gets("when there is one", "<> vacant")
	})
}

// A reader that is slow gets the newest value next, and nothing of what was in between waits for it.
func TestWatchLeaderForASlowReader(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		reader, n := w.open(), w.open()
		next, stop := iter.Pull2(reader.WatchLeader(t.Context(), "/line"))
		defer stop()
		if l, err, _ := next(); err != nil || !l.Vacant {
			t.Fatal(l, err)
		}
		for i := range 100 {
			if err := advertising(t, n, fmt.Sprintf("host-%d:1", i)).Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		advertising(t, n, "host:1")
		if l, err, _ := next(); err != nil || l.Address != "host:1" || l.First.ID != l.Address {
			t.Errorf("the next value is %+v, %v", l, err)
		}
	})
}

// If somebody deletes the directory of addresses, the leader goes on leading, and who looks then sees no address: it is
// back with the next place.
func TestTheDirectoryOfAddressesIsDeleted(t *testing.T) {
	for _, path := range []string{"/line", "/" + strings.Repeat(strings.Repeat("d", 99)+"/", 50) + "line"} {
		bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
			reader, n := w.open(), w.open()
			latch := must(n.Latch(path, incumbent.LatchOptions{ID: "a", Advertise: "host-a:1"}))
			if err := latch.Start(); err != nil {
				t.Fatal(err)
			}
			pass(time.Second)
			early := logLeaders(t, reader, path)
			early.gets("at first", "a<host-a:1>")
			dir := path + "-addresses"
			for _, name := range must(reader.Children(dir).Do(t.Context())) {
				if err := reader.Delete(dir + "/" + name).Do(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if err := reader.Delete(dir).Do(t.Context()); err != nil {
				t.Fatal(err)
			}
			pass(time.Minute)
			early.gets("after the deletion")
			late := logLeaders(t, reader, path)
			late.gets("who looks then", "a<>")
			if !latch.HasLeadership() {
				t.Error("it leads no longer")
			}
			if err := latch.Resign(t.Context()); err != nil {
				t.Fatal(err)
			}
			pass(time.Second)
			late.mu.Lock()
			defer late.mu.Unlock()
			if last := late.lines[len(late.lines)-1]; last != "a<host-a:1>" {
				t.Errorf("after a resign: %q", late.lines)
			}
		})
	}
}
