package vitess

import (
	"context"
	"fmt"
	"testing"

	"github.com/incumbent-go/incumbent/test/adopters/rolling"
	topodatapb "vitess.io/vitess/go/vt/proto/topodata"
	"vitess.io/vitess/go/vt/topo"
	"vitess.io/vitess/go/vt/topo/test"
	"vitess.io/vitess/go/vt/topo/zk2topo"
)

func init() { topo.RegisterFactory("incumbent", Factory{}) }

// Vitess' suite, with an address of observers, as zk2topo runs it, and with the tests of what zk2topo lacks.
func TestSuite(t *testing.T) {
	rolling.OnBoth(t, func(t *testing.T, addr string) {
		n := 0
		test.TopoServerTestSuite(t, t.Context(), func() *topo.Server {
			n++
			root := fmt.Sprint("/test-", n)
			ts, err := topo.OpenServer("incumbent", addr+"|"+addr, root+"/"+topo.GlobalCell)
			if err != nil {
				t.Fatal(err)
			}
			cell := &topodatapb.CellInfo{ServerAddress: addr, Root: root + "/" + test.LocalCellName}
			if err := ts.CreateCellInfo(t.Context(), test.LocalCellName, cell); err != nil {
				t.Fatal(err)
			}
			return ts
		}, nil)
	})
}

// Of a file the present version can be read, and no other. List has files alone, also while a lock is held.
func TestVersionsAndLists(t *testing.T) {
	rolling.OnBoth(t, func(t *testing.T, addr string) {
		s, err := New(addr, "/versions")
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		ctx := t.Context()
		for _, contents := range []string{"old", "new"} {
			if _, err := s.Update(ctx, "keyspaces/commerce/Keyspace", []byte(contents), nil); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Create(ctx, "keyspaces/commerce/shards/0/Shard", nil); err != nil {
			t.Fatal(err)
		}
		for v, want := range []string{"", "new", ""} {
			got, err := s.GetVersion(ctx, "keyspaces/commerce/Keyspace", int64(v))
			if string(got) != want || topo.IsErrType(err, topo.NoNode) != (want == "") {
				t.Errorf("version %d is %q, %v", v, got, err)
			}
		}
		lists := func() {
			t.Helper()
			for prefix, want := range map[string]int{"/": 2, "keyspaces/comm": 2, "keyspaces/commerce/K": 1,
				"none": 0} {
				files, err := s.List(ctx, prefix)
				if len(files) != want || topo.IsErrType(err, topo.NoNode) != (want == 0) {
					t.Errorf("%s has %v, %v, want %d files", prefix, files, err, want)
				}
			}
		}
		lock, err := s.Lock(ctx, "keyspaces/commerce", "me")
		if err != nil {
			t.Fatal(err)
		}
		lists()
		if err := lock.Unlock(ctx); err != nil {
			t.Fatal(err)
		}
		lists()
		// The directory of the locks is there before the lock of one that comes.
		if _, err := s.client.Create(s.path("keyspaces/commerce", locks), nil).Do(ctx); err != nil {
			t.Fatal(err)
		}
		lists()
	})
}

// theirs opens the original.
func theirs(addr string) (topo.Conn, error) { return zk2topo.NewServer(addr, "/vitess"), nil }

// ours opens the port.
func ours(addr string) (topo.Conn, error) { return New(addr, "/vitess") }

// locking has instances take the lock of a keyspace.
func locking(name string, open func(addr string) (topo.Conn, error)) rolling.Side {
	return rolling.Side{Name: name, Open: func(addr, id string) (rolling.Instance, error) {
		s, err := open(addr)
		return rolling.Instance{
			Lock: func() (<-chan struct{}, func() error, error) {
				l, err := s.LockName(context.Background(), "keyspaces/commerce", id)
				if err != nil {
					return nil, nil, err
				}
				return nil, func() error { return l.Unlock(context.Background()) }, nil
			},
			Close: func() { s.Close() },
		}, err
	}}
}

func TestRollingUpgradeOfLocks(t *testing.T) {
	rolling.Runs(t, locking("original", theirs), locking("port", ours))
}

// electing has instances lead.
func electing(name string, open func(addr string) (topo.Conn, error)) rolling.Side {
	return rolling.Side{Name: name, Open: func(addr, id string) (rolling.Instance, error) {
		s, err := open(addr)
		if err != nil {
			return rolling.Instance{}, err
		}
		// zk2topo creates an election, but not what is above the elections.
		_, err = s.Create(context.Background(), "cells/zone1/CellInfo", nil)
		if topo.IsErrType(err, topo.NodeExists) {
			err = nil
		}
		return rolling.Instance{
			Lock: func() (<-chan struct{}, func() error, error) {
				p, err := s.NewLeaderParticipation("vtctld", id)
				if err != nil {
					return nil, nil, err
				}
				ctx, err := p.WaitForLeadership()
				if err != nil {
					return nil, nil, err
				}
				return ctx.Done(), func() error { p.Stop(); return nil }, nil
			},
			Close: func() { s.Close() },
		}, err
	}}
}

func TestRollingUpgradeOfElections(t *testing.T) {
	rolling.Runs(t, electing("original", theirs), electing("port", ours))
}
