package door_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// openedBy opens a client of an in-memory server.
func openedBy(t *testing.T, srv *zkmem.Server) (context.Context, *incumbent.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), repeat.Enough)
	t.Cleanup(cancel)
	c, err := incumbent.Open(ctx, incumbent.Config{Servers: srv.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(ctx) })
	if err := c.WaitConnected(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx, c
}

// What is first in a line is a place that a session owns, and nobody is behind one that no session
// owns. In the names of the nodes "p" is persistent, "c" a container, "t" has a TTL, and "e" is ephemeral.
func TestFirstInLineIsWhatASessionOwns(t *testing.T) {
	for names, want := range map[string]string{
		"latch:e latch:e":                  "0",
		"latch:p latch:e":                  "- blocked by 0",
		"latch:c latch:e":                  "- blocked by 0",
		"latch:t latch:e":                  "- blocked by 0",
		"latch:e latch:p latch:e":          "0",
		"lock:p lock:p":                    "- blocked by 0",
		"latch:p lock:e":                   "1 blocked by 0",
		"__READ__:e __READ__:e":            "0 1",
		"__READ__:p __READ__:e":            "1",
		"__READ__:p __WRIT__:e":            "- blocked by 0",
		"__WRIT__:p __READ__:e":            "- blocked by 0",
		"__READ__:p __WRIT__:p __READ__:e": "- blocked by 0",
		"lease:p lease:e":                  "1",
		"lease:p":                          "-",
		"n_:p n_:e":                        "- blocked by 0",
	} {
		t.Run(names, func(t *testing.T) {
			srv := zkmem.New(zkmem.Options{ExtendedTypes: true})
			defer srv.Close()
			if err := srv.Listen("127.0.0.1:0"); err != nil {
				t.Fatal(err)
			}
			ctx, c := openedBy(t, srv)
			if _, err := c.Create("/l", nil).Do(ctx); err != nil {
				t.Fatal(err)
			}
			for i, name := range strings.Fields(names) {
				label, kind, _ := strings.Cut(name, ":")
				if !strings.HasSuffix(label, "_") {
					label += "-"
				}
				request := c.Create(fmt.Sprintf("/l/%s%010d", label, i), []byte(fmt.Sprint(i)))
				switch kind {
				case "e":
					request.Ephemeral()
				case "c":
					request.Container()
				case "t":
					request.TTL(time.Hour)
				}
				if _, err := request.Do(ctx); err != nil {
					t.Fatal(err)
				}
			}
			line, err := c.Line(ctx, "/l", "n_")
			if err != nil {
				t.Fatal(err)
			}
			if got := firstOf(t, line); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// firstOf writes who is first in a line, by their ids, and what blocks one.
func firstOf(t *testing.T, line incumbent.Line) string {
	t.Helper()
	var first []string
	for _, p := range line.Participants {
		if p.First {
			first = append(first, p.ID)
		}
	}
	one, there := line.First()
	if there != (len(first) > 0) || there && one.ID != first[0] {
		t.Errorf("Line.First returns %v and %t, and first are %v", one, there, first)
	}
	if !there {
		first = []string{"-"}
	}
	if p, blocked := line.Blocker(); blocked {
		first = append(first, "blocked by", p.ID)
		if !p.Persistent() {
			t.Errorf("it is blocked by a node that a session owns: %v", p)
		}
	}
	return strings.Join(first, " ")
}

// A feed shows what blocks a line, and not as the first in line.
func TestWatchShowsWhatBlocksALine(t *testing.T) {
	srv := zkmem.Start(t)
	ctx, c := openedBy(t, srv)
	for _, path := range []string{"/l", "/l/latch-0000000000"} {
		if _, err := c.Create(path, []byte("former")).Do(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Create("/l/latch-0000000001", []byte("a")).Ephemeral().Do(ctx); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for change, err := range c.Watch(ctx, "/l") {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; seen == 2 {
			if change.Blocker.Path != "" || change.First.ID != "a" || !change.First.First || change.First.Persistent() {
				t.Errorf("when the blocker is gone: %+v", change)
			}
			return
		}
		if b := change.Blocker; b.ID != "former" || !b.Persistent() || b.First || change.First.Path != "" ||
			change.Vacant || change.Recipe != "latch" {
			t.Errorf("at first: %+v", change)
		}
		if err := c.Evict(ctx, change.Blocker); err != nil {
			t.Fatal(err)
		}
	}
	t.Errorf("the feed ended after %d changes", seen)
}

// The handles of a line that is blocked say that nobody is first in it.
func TestNobodyIsFirstInABlockedLine(t *testing.T) {
	srv := zkmem.Start(t)
	ctx, c := openedBy(t, srv)
	for _, path := range []string{"/l", "/l/latch-0000000000"} {
		if _, err := c.Create(path, nil).Do(ctx); err != nil {
			t.Fatal(err)
		}
	}
	latch, err := c.Latch("/l", incumbent.LatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if p, there, err := latch.First(ctx); there || err != nil || p.Path != "" {
		t.Errorf("%+v %t %v", p, there, err)
	}
	job, err := c.JobElection("/job", incumbent.JobElectionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Create("/job/leader/election/instance", []byte("former")).Parents().Do(ctx); err != nil {
		t.Fatal(err)
	}
	if p, there, err := job.First(ctx); there || err != nil || p.ID != "former" || p.First || !p.Persistent() {
		t.Errorf("%+v %t %v", p, there, err)
	}
	if there, err := job.HasLeader(ctx); there || err != nil {
		t.Errorf("HasLeader: %t %v", there, err)
	}
}

// Servers that say what a container and a node with a TTL are do so by an owner that is no session.
func TestPersistentIsWhatNoSessionOwns(t *testing.T) {
	for owner, want := range map[int64]bool{0: true, math.MinInt64: true, -1<<56 | 60_000: true,
		0x1a206f6554a0002: false, -0x7f << 56: false} {
		if got := (incumbent.Participant{Token: 5, Owner: owner}).Persistent(); got != want {
			t.Errorf("owner 0x%x: %t", uint64(owner), got)
		}
	}
	if (incumbent.Participant{}).Persistent() ||
		(incumbent.Participant{Token: 5, Err: incumbent.ErrNoAuth}).Persistent() {
		t.Error("a participant that was not read is persistent")
	}
}
