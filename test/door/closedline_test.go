package door_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// closedNode creates the nodes of a path, the last one with an access list.
func closedNode(t *testing.T, srv *zkmem.Server, path string, list ...zkmem.ACL) {
	t.Helper()
	for at := range path {
		if at > 0 && path[at] == '/' {
			_, _ = srv.Create(path[:at], nil, zkmem.Persistent) // it may exist
		}
	}
	if _, err := srv.Create(path, nil, zkmem.Persistent); err != nil {
		t.Fatal(err)
	}
	if _, err := srv.Do(zkmem.Op{Code: zkmem.OpSetACL, Path: path, ACL: list, Version: zkmem.AnyVersion}); err != nil {
		t.Fatal(err)
	}
}

// A client that a line does not admit gets the access list that refuses it, if it may be read, without the digests of
// passwords, and what
// to set.
func TestAClosedLineIsNamed(t *testing.T) {
	const digest = "q8sZnFIXNFIQ4EvqLnbLDqBbvAs="
	anns, readable := zkmem.ACL{Perms: zkmem.PermAll, Scheme: "digest", ID: "ann:" +
		digest}, zkmem.ACL{Perms: zkmem.PermRead, Scheme: "world", ID: "anyone"}
	srv := zkmem.Start(t)
	closedNode(t, srv, "/jobs/readable", anns, readable)
	closedNode(t, srv, "/jobs/hidden", anns)
	closedNode(t, srv, "/app", anns, readable)
	many := make([]zkmem.ACL, 20)
	for i := range many {
		many[i] = zkmem.ACL{Perms: zkmem.PermRead, Scheme: "ip", ID: fmt.Sprintf("10.0.0.%d", i)}
	}
	closedNode(t, srv, "/jobs/many", append(many, readable)...)
	auth, err := incumbent.ParseAuth("digest:bob:pw")
	if err != nil {
		t.Fatal(err)
	}
	c, err := incumbent.Open(t.Context(), incumbent.Config{Servers: srv.Addr(), Auth: []incumbent.Auth{auth}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	for path, want := range map[string]string{
		"/jobs/readable": "the access list of /jobs/readable does not admit this client for this, it has " +
			"digest:ann:…:rwcda, world:anyone:r; an operator",
		"/jobs/hidden":    "the access list of /jobs/hidden, which may not be read, does not admit this client",
		"/app/jobs/below": "the access list of /app does not admit this client for this, it has digest:ann:…:rwcda",
		"/jobs/many":      "and 13 more; an operator",
	} {
		l, err := c.Latch(path, incumbent.LatchOptions{})
		if err == nil {
			err = l.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		_, awaited := l.Await(t.Context())
		m, err := c.Mutex(path, incumbent.MutexOptions{})
		if err != nil {
			t.Fatal(err)
		}
		_, locked := m.Lock(t.Context())
		for _, err := range []error{awaited, locked} {
			if !errors.Is(err, incumbent.ErrNoAuth) || incumbent.Retryable(err) ||
				!strings.Contains(err.Error(), want) ||
				!strings.HasSuffix(err.Error(), "Config.ACL") || strings.Contains(err.Error(), digest) {
				t.Errorf("%s: %v, want %q", path, err, want)
			}
		}
		_ = l.Close(t.Context())
	}
}
