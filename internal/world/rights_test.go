package world

import (
	"slices"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// deaths is an Observer that notes which clients hear of the end of a node.
type deaths struct {
	Idle
	of string
	by []int
}

func (d *deaths) Posting(c *Client, _ events.ID, ev *events.Event) bool {
	if ev.Kind != events.WatchDeleted || ev.Path != d.of {
		return true
	}
	d.by = append(d.by, c.ID())
	return false
}

// TestAccessListsNameClients takes rights away from one of two clients. It may not list,
// read, create or delete there, and gets no event of a node that it may not read any more.
// The other one may and does.
func TestAccessListsNameClients(t *testing.T) {
	o := &deaths{of: "/dir/b"}
	w, err := New(three("latch"), o)
	if err != nil {
		t.Fatal(err)
	}
	second := func() { w.Until(w.Now() + int64(time.Second)) }
	operate := func(code zkmem.OpCode, path string, acl []zkmem.ACL) {
		w.Ensemble().Operate(zkmem.Op{Code: code, Path: path, ACL: acl, Version: zkmem.AnyVersion})
		second()
	}
	ask := func(c *Client, r events.Request) (code events.Code) {
		code = events.NotSent
		c.Send(&Packet{Request: r, Done: func(a *Packet) { code = a.Code }})
		second()
		return code
	}
	w.Until(int64(5 * time.Second))
	for _, path := range []string{"/dir", "/dir/a", "/dir/b"} {
		operate(zkmem.OpCreate, path, zkmem.OpenACL())
	}
	refused, other := w.Clients()[0], w.Clients()[1]
	call := func(c *Client) events.Call { return events.Call{Session: c.Session()} }
	for _, c := range []*Client{refused, other} {
		if code := ask(c, events.Get{Call: call(c), Path: "/dir/b", Watch: true}); code != events.OK {
			t.Fatalf("client %d reads what everybody may read: %s", c.ID(), code)
		}
	}
	for _, path := range []string{"/dir", "/dir/a", "/dir/b"} {
		operate(zkmem.OpSetACL, path, []zkmem.ACL{{Perms: zkmem.PermWrite, Scheme: "world", ID: "anyone"},
			{Perms: zkmem.PermAll, Scheme: other.Identity().Scheme, ID: other.Identity().ID}})
	}
	for _, c := range []struct {
		by   *Client
		want events.Code
	}{{refused, events.NoAuth}, {other, events.OK}} {
		for _, r := range []events.Request{
			events.Children{Call: call(c.by), Path: "/dir"},
			events.Get{Call: call(c.by), Path: "/dir/a"},
			events.Create{Call: call(c.by), Path: "/dir/c"},
			events.Delete{Call: call(c.by), Path: "/dir/a"},
		} {
			if code := ask(c.by, r); code != c.want {
				t.Errorf("client %d: %T is answered %q, want %q", c.by.ID(), r, code, c.want)
			}
		}
	}
	operate(zkmem.OpDelete, "/dir/b", nil)
	if !slices.Equal(o.by, []int{other.ID()}) {
		t.Errorf("clients %d heard of the end of a node that only client %d may read", o.by, other.ID())
	}
}
