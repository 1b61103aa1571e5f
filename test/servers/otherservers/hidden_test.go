package otherservers

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/tape"
)

// users are two clients of one real server, of which neither may read what the other creates.
type users struct {
	t        *testing.T
	ctx      context.Context
	root     string
	ann, bob *incumbent.Client
}

// since says since which releases a server refuses exists of a node that its caller may not read.
var since = map[int]realzk.Version{8: {3, 8, 4}, 9: {3, 9, 2}}

// onRealServers runs a test on each real server, and tells it whether the server hides nodes from exists.
func onRealServers(t *testing.T, test func(u users, hides bool)) {
	realzk.Each(t, func(t *testing.T, r realzk.Release) {
		addr, root := r.Shared(t)
		v := r.At(t, addr)
		first, known := since[v[1]]
		ctx, cancel := context.WithTimeout(context.Background(), tape.Within)
		t.Cleanup(cancel)
		u := users{t: t, root: root, ctx: ctx}
		u.ann, u.bob = u.open(addr, "ann"), u.open(addr, "bob")
		anybody, err := incumbent.Open(ctx, incumbent.Config{Servers: addr})
		ok(t, err)
		for _, dir := range []string{"/line", "/lock", "/dir"} {
			_, err := anybody.Create(u.root+dir, nil).Parents().Do(ctx)
			ok(t, err)
		}
		ok(t, anybody.Close(ctx))
		test(u, known && !v.Before(first))
	})
}

func (u users) open(addr, name string) *incumbent.Client {
	u.t.Helper()
	c, err := incumbent.Open(u.ctx, incumbent.Config{
		Servers: addr, Name: name, Auth: []incumbent.Auth{incumbent.AuthOf("digest", []byte(name+":pw"))},
	})
	ok(u.t, err)
	u.t.Cleanup(func() { kit.OK(u.t, kit.CloseConnected(c, u.ctx)) })
	return c
}

// A guaranteed delete deletes a node that may be deleted and not read.
func TestAGuaranteedDeleteOnRealServers(t *testing.T) {
	onRealServers(t, func(u users, hides bool) {
		for _, version := range []int32{incumbent.AnyVersion, 0} {
			path := fmt.Sprintf("%s/dir/of-%d", u.root, version)
			_, err := u.ann.Create(path, []byte("x")).Do(u.ctx)
			ok(u.t, err)
			if _, err := u.bob.Exists(path).Do(u.ctx); errors.Is(err, incumbent.ErrNoAuth) != hides {
				u.t.Errorf("exists: %v", err)
			}
			remove := u.bob.Delete(path)
			if version != incumbent.AnyVersion {
				remove.Version(version)
			}
			d, err := remove.Guaranteed()
			ok(u.t, err)
			ok(u.t, d.Wait(u.ctx))
			if stat, err := u.ann.Exists(path).Do(u.ctx); err != nil || stat != nil {
				u.t.Errorf("the node is there: %v, %v", stat, err)
			}
		}
	})
}

// Two users hand an election, a plain lock and a fixed name over to each other, though neither may read the other's
// node.
func TestUsersOnRealServersTakeTurns(t *testing.T) {
	onRealServers(t, func(u users, _ bool) {
		u.elections()
		u.locks()
		u.names()
	})
}

func (u users) elections() {
	u.t.Helper()
	var all []*incumbent.Election
	for _, c := range []*incumbent.Client{u.ann, u.bob} {
		e, err := c.Election(u.root+"/line", "n_", incumbent.LatchOptions{})
		ok(u.t, err)
		ok(u.t, e.Start())
		if len(all) == 0 {
			held, err := e.Await(u.ctx)
			ok(u.t, err)
			held.Release()
		}
		all = append(all, e)
	}
	ok(u.t, all[0].Close(u.ctx))
	held, err := all[1].Await(u.ctx)
	ok(u.t, err)
	held.Release()
	ok(u.t, all[1].Close(u.ctx))
}

func (u users) locks() {
	u.t.Helper()
	var last *incumbent.Hold
	for i := range 4 {
		c := []*incumbent.Client{u.ann, u.bob}[i%2]
		m, err := c.Mutex(u.root+"/lock", incumbent.MutexOptions{Plain: true})
		ok(u.t, err)
		got := make(chan error, 1)
		var hold *incumbent.Hold
		go func() {
			var err error
			hold, err = m.Lock(u.ctx)
			got <- err
		}()
		if last != nil {
			ok(u.t, last.Unlock(u.ctx))
		}
		ok(u.t, <-got)
		last = hold
	}
	ok(u.t, last.Unlock(u.ctx))
}

func (u users) names() {
	u.t.Helper()
	var all []*incumbent.PersistentNode
	for _, c := range []*incumbent.Client{u.ann, u.bob} {
		p, err := c.PersistentNode(u.root+"/dir/name", nil, incumbent.PersistentNodeOptions{})
		ok(u.t, err)
		ok(u.t, p.Start())
		if len(all) == 0 {
			ok(u.t, p.WaitPresent(u.ctx))
		}
		all = append(all, p)
	}
	ok(u.t, all[0].Close(u.ctx))
	ok(u.t, all[1].WaitPresent(u.ctx))
	ok(u.t, all[1].Close(u.ctx))
}
