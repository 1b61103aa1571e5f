package main

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// times waits until the instance has said a text so many times.
func (d *diary) times(t *testing.T, text string, count int) {
	t.Helper()
	limit := time.After(time.Minute)
	for {
		d.mu.Lock()
		n, more := strings.Count(strings.Join(d.lines, "\n"), text), d.more
		d.mu.Unlock()
		if n >= count {
			return
		}
		select {
		case <-more:
		case <-limit:
			t.Fatalf("it has said %q %d times, want %d", text, n, count)
		}
	}
}

// leader returns the session of the first in line.
func leader(t *testing.T, srv *zkmem.Server) (session int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := srv.WaitFor(ctx, func(v *zkmem.View) bool {
		names := v.Children("/jobs/nightly")
		if len(names) == 0 {
			return false
		}
		first := slices.MinFunc(names, func(a, b string) int { return cmp.Compare(a[len(a)-10:], b[len(b)-10:]) })
		_, stat, err := v.Get("/jobs/nightly/" + first)
		session = stat.EphemeralOwner
		return err == nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// After an expiry and after an outage an instance leads again, with all its actors.
func TestAnInstanceLeadsAgain(t *testing.T) {
	for name, with := range groups {
		t.Run(name, func(t *testing.T) {
			srv := zkmem.Start(t)
			a, load, _, _ := instance(t, srv, with)
			load <- nil
			a.times(t, "leading", 1)
			srv.ExpireSession(leader(t, srv))
			a.times(t, "leading", 2)
			srv.Stop()
			if err := srv.Restart(); err != nil {
				t.Fatal(err)
			}
			a.times(t, "leading", 3)
			a.times(t, "one report", 2)
		})
	}
}

// When the leader dies, the other instance leads.
func TestTheNextLeadsAfterAKill(t *testing.T) {
	srv := zkmem.Start(t)
	a, load, _, _ := instance(t, srv, (*service).withErrgroup)
	load <- nil
	a.times(t, "leading", 1)
	b, load, _, _ := instance(t, srv, (*service).withErrgroup)
	load <- nil
	b.times(t, "warm", 1)
	dead := leader(t, srv)
	srv.Freeze(zkmem.Inbound, dead) // the dead say nothing
	srv.ExpireSession(dead)
	b.times(t, "leading", 1)
	srv.Heal()
}
