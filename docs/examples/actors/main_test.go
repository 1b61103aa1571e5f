package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// diary has what one instance said.
type diary struct {
	mu    sync.Mutex
	lines []string
	more  chan struct{}
}

func (d *diary) say(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
	close(d.more)
	d.more = make(chan struct{})
}

func (d *diary) has(text string) (bool, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Contains(strings.Join(d.lines, "\n"), text), d.more
}

func (d *diary) until(t *testing.T, text string) {
	t.Helper()
	limit := time.After(time.Minute)
	for {
		found, more := d.has(text)
		if found {
			return
		}
		select {
		case <-more:
		case <-limit:
			t.Fatalf("it has not said %q: %q", text, d.lines)
		}
	}
}

// instance starts a service, whose load returns what is sent.
func instance(t *testing.T, srv *zkmem.Server,
	with func(*service, context.Context) error) (d *diary, load chan error, end func(error), ended chan error) {
	t.Helper()
	client, err := incumbent.Open(context.Background(), incumbent.Config{Servers: srv.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	d, load, ended = &diary{more: make(chan struct{})}, make(chan error, 1), make(chan error, 1)
	s := newService(client, func(ctx context.Context) error {
		select {
		case err := <-load:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}, d.say)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ended <- with(s, ctx)
	}()
	t.Cleanup(func() {
		cancel(nil)
		<-done
		closing, stop := context.WithTimeout(context.Background(), time.Minute)
		defer stop()
		if err := client.Close(closing); err != nil {
			t.Error(err)
		}
	})
	return d, load, cancel, ended
}

var groups = map[string]func(*service, context.Context) error{"errgroup": (*service).withErrgroup,
	"run": (*service).withRun}

// An instance that is not warm is not in line, so the one that is leads, though it came later. When it ends, with all
// its actors, the other one leads, warm.
func TestTheLeaderIsWarm(t *testing.T) {
	for name, with := range groups {
		t.Run(name, func(t *testing.T) {
			srv := zkmem.Start(t)
			cold, warmCold, _, _ := instance(t, srv, with)
			cold.until(t, "one report") // the other actors do not wait for it
			warm, load, end, ended := instance(t, srv, with)
			load <- nil
			warm.until(t, "leading")
			if leads, _ := cold.has("leading"); leads {
				t.Error("an instance leads that is not warm")
			}
			warmCold <- nil
			cold.until(t, "warm")
			enough := errors.New("enough")
			end(enough)
			if err := <-ended; !errors.Is(err, enough) {
				t.Errorf("the group ended with %v", err)
			}
			cold.until(t, "leading")
		})
	}
}

// The failure of one actor ends the group, and its error is the group's.
func TestOneFailureEndsAll(t *testing.T) {
	for name, with := range groups {
		t.Run(name, func(t *testing.T) {
			d, load, _, ended := instance(t, zkmem.Start(t), with)
			d.until(t, "one report")
			broken := errors.New("broken")
			load <- broken
			if err := <-ended; !errors.Is(err, broken) {
				t.Errorf("the group ended with %v", err)
			}
		})
	}
}
