package door_test

import (
	"context"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/sources"
	"github.com/incumbent-go/incumbent/test/kit/tape"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A program that sets no Logger sees warnings and errors, one line each, and nothing else; one that asks for silence,
// or sets a Logger, sees nothing on standard error.
func TestWithoutALoggerWarningsGoToStandardError(t *testing.T) {
	other := &sharedLog{}
	for name, c := range map[string]struct {
		change func(*incumbent.Config)
		says   bool
	}{
		"neither":     {func(*incumbent.Config) {}, true},
		"Silent":      {func(c *incumbent.Config) { c.Silent = true }, false},
		"a Nop":       {func(c *incumbent.Config) { c.Logger = zerolog.Nop() }, false},
		"a Logger":    {func(c *incumbent.Config) { c.Logger = zerolog.New(other) }, false},
		"both":        {func(c *incumbent.Config) { c.Logger, c.Silent = zerolog.New(other), true }, false},
		"a level off": {func(c *incumbent.Config) { c.Logger = zerolog.New(other).Level(zerolog.Disabled) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			standard, log := &sharedLog{}, tape.New(t)
			config := incumbent.Config{Servers: "127.0.0.1:1", SessionTimeout: 10 * time.Second,
				Record: incumbent.RecordTo(log)}
			c.change(&config)
			client, err := incumbent.Open(sources.With(t.Context(), sources.Sources{StandardError: standard}), config)
			fine(t, err)
			failed, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			log.Until("an attempt to fail", func(records []events.Record) bool {
				return slices.ContainsFunc(records, func(r events.Record) bool {
					return strings.Contains(r.Event.Text, "connection refused")
				})
			})
			_ = client.Close(failed)
			said := standard.String()
			lines := strings.Split(strings.TrimSpace(said), "\n")
			if c.says != strings.Contains(said, "127.0.0.1:1: connect: connection refused") ||
				c.says && len(lines) != 2 || !c.says && said != "" || strings.Contains(said, "INF") {
				t.Errorf("it said:\n%s", said)
			}
		})
	}
	if !strings.Contains(other.String(), "connection refused") {
		t.Errorf("the Logger got %s", other)
	}
}

// A client that reaches no server says so after two seconds, with what is known of each address, and only then.
func TestAClientThatReachesNoServerSaysSo(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log, config := logged()
		up, refuses := make(chan struct{}), ""
		n := w.open(config, func(c *incumbent.Config) {
			dial := c.Dial
			c.Servers += ",192.0.2.2:2181"
			c.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				select {
				case <-up:
					return dial(ctx, network, "192.0.2.1:2181")
				default:
				}
				if refuses == "" || refuses == addr { // the first that is tried
					refuses = addr
					return nil, errNoLuck
				}
				<-ctx.Done() // nothing comes back
				return nil, ctx.Err()
			}
		})
		const line = "no server is reached yet"
		if pass(2*time.Second - time.Millisecond); strings.Contains(log.String(), line) {
			t.Errorf("too early: %s", log)
		}
		pass(time.Second)
		said := log.String()
		silent := strings.NewReplacer("192.0.2.1", "192.0.2.2", "192.0.2.2", "192.0.2.1").Replace(refuses)
		want := `"why":"` + refuses + ": no luck; " + silent + `: no answer is known yet","message":"` + line
		if !strings.Contains(said, want) {
			t.Errorf("%s\nwant %s", said, want)
		}
		close(up)
		pass(time.Minute)
		if n.Connection() != incumbent.Connected || strings.Count(log.String(), line) != 1 {
			t.Errorf("it is %s; the log: %s", n.Connection(), log)
		}
	})
}

// A client that has reached a server, or is closed, says nothing of that kind.
func TestAClientThatReachesAServerSaysNothing(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log, config := logged()
		n := w.open(config)
		pass(time.Second)
		n.cut()
		gone := w.open(config, func(c *incumbent.Config) {
			c.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) { return nil, errNoLuck }
		})
		_ = gone.Close(t.Context())
		pass(time.Minute)
		if strings.Contains(log.String(), "no server is reached yet") {
			t.Error(log)
		}
	})
}

// Without an ID others see the host and the process; with NoID they see nothing, as Curator's default is.
func TestTheIDOfAParticipantWithoutOne(t *testing.T) {
	srv := zkmem.Start(t)
	client := must(incumbent.Open(t.Context(), incumbent.Config{Servers: srv.Addr(), Silent: true}))
	defer func() { fine(t, client.Close(t.Context())) }()
	own := must(os.Hostname())
	for _, c := range []struct {
		options incumbent.LatchOptions
		want    string
	}{
		{incumbent.LatchOptions{}, own + "/"}, {incumbent.LatchOptions{NoID: true}, ""},
		{incumbent.LatchOptions{ID: "a"}, "a"}, {incumbent.LatchOptions{ID: "a", NoID: true}, "a"},
	} {
		latch, selector, election := must(client.Latch("/l", c.options)),
			must(client.Selector("/s", untilEnd, incumbent.SelectorOptions{ID: c.options.ID,
				NoID: c.options.NoID})),
			must(client.Election("/e", "n_", c.options))
		for _, id := range []string{latch.ID(), selector.ID(), election.ID()} {
			if !strings.HasPrefix(id, c.want) || c.want == "" && id != "" || id == own+"/" {
				t.Errorf("%+v: the ID is %q", c.options, id)
			}
		}
		fine(t, latch.Start())
		held := must(latch.Await(t.Context()))
		if node, err := client.Get(held.Term().Path).Do(t.Context()); err != nil || string(node.Data) != latch.ID() {
			t.Errorf("%+v: the node has %q, %v", c.options, node.Data, err)
		}
		held.Release()
		fine(t, latch.Close(t.Context()))
		fine(t, selector.Close(t.Context()))
		fine(t, election.Close(t.Context()))
	}
}
