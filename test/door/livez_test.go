package door_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/health"
	"github.com/incumbent-go/incumbent/internal/sources"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// /livez is 503 while the client's loop hangs, within Options.Probe, and 200 when it goes on. Neither /readyz nor the
// client's
// Stats wait for the loop.
func TestLivezFailsWhileTheLoopHangs(t *testing.T) {
	var step func(func()) bool
	ctx := sources.With(t.Context(), sources.Sources{Opened: func(f func(func()) bool) { step = f }})
	c, err := incumbent.Open(ctx, incumbent.Config{Servers: zkmem.Start(t).Addr()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.WithoutCancel(t.Context())) }()
	if err := c.WaitConnected(t.Context()); err != nil {
		t.Fatal(err)
	}
	get := func(path string, probe time.Duration) (int, string) {
		h, err := health.Handler(c, health.Options{Probe: probe})
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(h)
		defer server.Close()
		answer, err := server.Client().Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		said, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(said)
	}
	if code, said := get("/livez", time.Minute); code != http.StatusOK {
		t.Errorf("before: %d %s", code, said)
	}
	stands, freed := make(chan struct{}), make(chan struct{})
	step(func() { close(stands); <-freed })
	<-stands
	free := sync.OnceFunc(func() { close(freed) })
	defer free()
	if code, said := get("/livez", 50*time.Millisecond); code != http.StatusServiceUnavailable ||
		!strings.Contains(said, "loop") {
		t.Errorf("while the loop hangs: %d %s", code, said)
	}
	if code, said := get("/readyz", 0); code != http.StatusOK {
		t.Errorf("/readyz while the loop hangs: %d %s", code, said)
	}
	if s := c.Stats(); s.Granted == 0 {
		t.Errorf("%+v", s)
	}
	free()
	if code, said := get("/livez", time.Minute); code != http.StatusOK {
		t.Errorf("afterwards: %d %s", code, said)
	}
}
