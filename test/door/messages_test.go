package door_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// messages opens a client of a server that takes requests of this size.
func messages(t *testing.T, srv *zkmem.Server, config incumbent.Config) (*incumbent.Client, context.Context) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	config.Servers = srv.Addr()
	c, err := incumbent.Open(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fails(t, c.Close(context.WithoutCancel(ctx))) })
	return c, ctx
}

// A listing that the default refuses is read by a client with a higher MaxAnswer.
func TestMaxAnswer(t *testing.T) {
	srv := zkmem.Start(t)
	c, ctx := messages(t, srv, incumbent.Config{})
	roomy, _ := messages(t, srv, incumbent.Config{MaxAnswer: 8 << 20})
	must(c.Create("/many", nil).Do(ctx))
	const children, name = 20_500, 200 // 204 bytes for each in the answer: 4,182,000, which is less than 4 MiB
	for i := range children {
		if _, err := srv.Create(fmt.Sprintf("/many/%0*d", name, i), nil, zkmem.Persistent); err != nil {
			t.Fatal(err)
		}
	}
	if names, err := c.Children("/many").Do(ctx); err != nil || len(names) != children {
		t.Errorf("%d names: %v", len(names), err)
	}
	for i := range 100 {
		if _, err := srv.Create(fmt.Sprintf("/many/x%0*d", name, i), nil, zkmem.Persistent); err != nil {
			t.Fatal(err)
		}
	}
	var refused *incumbent.Error
	if _, err := c.Children("/many").Do(ctx); !errors.As(err, &refused) || refused.Code != events.TooLarge ||
		!strings.Contains(err.Error(), "Config.MaxAnswer") {
		t.Errorf("above the default: %v", err)
	}
	if names, err := roomy.Children("/many").Do(ctx); err != nil || len(names) != children+100 {
		t.Errorf("%d names with MaxAnswer: %v", len(names), err)
	}
}

// A node that the default refuses is written with a higher MaxRequest, if the server takes
// it, and read again without other settings.
func TestMaxRequest(t *testing.T) {
	srv := zkmem.Start(t, zkmem.Options{MaxFrame: 16 << 20})
	c, ctx := messages(t, srv, incumbent.Config{})
	roomy, _ := messages(t, srv, incumbent.Config{MaxRequest: 16 << 20})
	big := make([]byte, 5<<20)
	var refused *incumbent.Error
	if _, err := c.Create("/big", big).Do(ctx); !errors.As(err, &refused) || refused.Code != events.NotSent ||
		!strings.Contains(err.Error(), "Config.MaxRequest") {
		t.Errorf("above the default: %v", err)
	}
	must(roomy.Create("/big", big).Do(ctx))
	if node, err := roomy.Get("/big").Do(ctx); err != nil || len(node.Data) != len(big) {
		t.Errorf("%d bytes: %v", len(node.Data), err)
	}
	if _, err := c.Get("/big").Do(ctx); !errors.As(err, &refused) || refused.Code != events.TooLarge {
		t.Errorf("read with the default: %v", err)
	}
	all := make([]incumbent.Op, 3)
	for i := range all {
		all[i] = incumbent.CreateNode(fmt.Sprintf("/part%d", i), big)
	}
	if _, err := roomy.Multi(all...).Do(ctx); err != nil {
		t.Errorf("a multi of 15 MiB: %v", err)
	}
}

func TestMessageSettings(t *testing.T) {
	for want, config := range map[string]incumbent.Config{
		"Config.MaxRequest is -1":                               {MaxRequest: -1},
		"Config.MaxRequest is 1048574 bytes: give the servers'": {MaxRequest: 1<<20 - 2},
		"Config.MaxRequest is 67108865 bytes":                   {MaxRequest: 64<<20 + 1},
		"Config.MaxAnswer is -1":                                {MaxAnswer: -1},
		"Config.MaxAnswer is 1048574 bytes: give from 1048575":  {MaxAnswer: 1<<20 - 2},
		"Config.MaxAnswer is 1073741825 bytes":                  {MaxAnswer: 1<<30 + 1},
		"could not be read":                                     {MaxRequest: 8 << 20, MaxAnswer: 4 << 20},
	} {
		config.Servers = "127.0.0.1:1"
		if _, err := incumbent.Open(t.Context(), config); err == nil ||
			!strings.HasPrefix(err.Error(), "incumbent: Config.Max") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
