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

// Vitess' suite, with an address of observers, as zk2topo runs it. Its test of List is left out: without a List, which
// zk2topo does not have either, it skips all that comes after it.
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
		}, []string{"checkList"})
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
