package health_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/health"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// leader returns the answer of /leader.
func leader(t *testing.T, c *incumbent.Client, path string) *httptest.ResponseRecorder {
	t.Helper()
	h, err := health.Handler(c, health.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/leader", nil))
	return w
}

// The id of who is first in line is shown up to 1 KiB, in whole characters.
func TestALongIDIsCut(t *testing.T) {
	srv := zkmem.Start(t)
	c, own := join(t, srv, "one")
	leadership, err := own.Await(t.Context()) // from here on, there is the line's directory
	if err != nil {
		t.Fatal(err)
	}
	leadership.Release()
	if err := own.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, id := range []struct{ whole, shown string }{
		{strings.Repeat("x", 1023), strings.Repeat("x", 1023)},
		{strings.Repeat("x", 1024), strings.Repeat("x", 1024)},
		{strings.Repeat("x", 1025), strings.Repeat("x", 1024) + "…"},
		{strings.Repeat("x", 1023) + "ü", strings.Repeat("x", 1023) + "…"},
		{strings.Repeat("x", 1022) + "üü", strings.Repeat("x", 1022) + "ü…"},
	} {
		node, err := c.Create(line+"/_c_00000000-0000-0000-0000-000000000000-latch-", []byte(id.whole)).
			Ephemeral().Sequential().Do(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var body health.Leader
		if err := json.Unmarshal(leader(t, c, line).Body.Bytes(), &body); err != nil {
			t.Fatal(err)
		}
		if body.First == nil || body.First.ID != id.shown {
			t.Errorf("an id of %d bytes is shown as %+v", len(id.whole), body.First)
		}
		if err := c.Delete(node).Do(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// Without a connection, /leader says so at once.
func TestLeaderWithoutAConnection(t *testing.T) {
	c, err := incumbent.Open(t.Context(), incumbent.Config{Servers: "127.0.0.1:1", Silent: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	w := leader(t, c, line)
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "not connected") ||
		strings.Contains(w.Body.String(), "deadline") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
