package door_test

import (
	"context"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A feed has the vacancy at first, each leader once, and the vacancy at the end.
func TestWatchTellsLeadersAndVacancies(t *testing.T) {
	srv := zkmem.Start(t)
	ctx, cancel := context.WithTimeout(context.Background(), repeat.Enough)
	defer cancel()
	client, err := incumbent.Open(ctx, incumbent.Config{Servers: srv.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close(ctx)
	a, err := client.Latch("/jobs/x", incumbent.LatchOptions{ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := client.Latch("/jobs/x", incumbent.LatchOptions{ID: "b"})
	if err != nil {
		t.Fatal(err)
	}
	hold := func(l *incumbent.Latch) {
		if err := l.Start(); err != nil {
			t.Fatal(err)
		}
		held, err := l.Await(ctx)
		if err != nil {
			t.Fatal(err)
		}
		held.Release()
	}
	var seen []string
	for change, err := range client.Watch(ctx, "/jobs/x") {
		if err != nil {
			t.Fatal(err)
		}
		switch seen = append(seen, change.Recipe+":"+change.First.ID); len(seen) {
		case 1:
			hold(a)
		case 2:
			if err := b.Start(); err != nil {
				t.Fatal(err)
			}
			if err := a.Close(ctx); err != nil {
				t.Fatal(err)
			}
		case 3:
			if err := b.Close(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if len(seen) == 4 {
			break
		}
	}
	want := []string{":", "latch:a", "latch:b", "latch:"}
	for i := range want {
		if i >= len(seen) || seen[i] != want[i] {
			t.Fatalf("got %q, want %q", seen, want)
		}
	}
}
