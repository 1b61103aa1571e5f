package zkio

import (
	"context"
	"errors"
	"strings"

	"github.com/incumbent-go/incumbent/events"
)

// getACL reads a node's access list. Servers since 3.4.14 and 3.5.5 want READ or ADMIN for it.
type getACL struct {
	events.Call
	path string
}

// Header returns the fields of all requests.
func (r getACL) Header() events.Call { return r.Call }

func (r getACL) String() string { return "get the access list of " + r.path }

// AppendTo appends the written form.
func (r getACL) AppendTo(b []byte) []byte { return append(b, r.String()...) }

// AccessList returns a node's access list, from the server that the live session is connected to. Any goroutine may call it; it
// never retries. Errors as for Read.
func (a *Adapter) AccessList(ctx context.Context, path string) ([]ACL, error) {
	_, kept, err := a.ask(ctx, getACL{Call: events.Call{Session: a.current()}, path: path})
	return kept.acl, err
}

// NearestList returns the access list of a node, or of the lowest node above it that exists, with that node's path.
func (a *Adapter) NearestList(ctx context.Context, path string) (of string, list []ACL, err error) {
	for {
		list, err := a.AccessList(ctx, path)
		var refused *Error
		if errors.As(err, &refused) && refused.Code == events.NoNode && path != "/" {
			path = path[:max(strings.LastIndexByte(path, '/'), 1)]
			continue
		}
		return path, list, err
	}
}

// acl reads an access list.
func (b *body) acl() []ACL {
	n := int(b.int32())
	if n < -1 || n > len(b.rest)/12 { // each takes at least twelve bytes
		b.bad = true
		return nil
	}
	var list []ACL
	for range n {
		list = append(list, ACL{Perms: b.int32(), Scheme: b.string(), ID: b.string()})
	}
	return list
}
