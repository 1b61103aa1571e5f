package vault

import (
	"context"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/vault/physical/zookeeper"
	"github.com/hashicorp/vault/sdk/physical"
	"github.com/incumbent-go/incumbent/test/adopters/rolling"
)

func config(addr string) map[string]string {
	return map[string]string{"address": addr, "path": "vault"}
}

func mustOpen(t *testing.T, addr string) *Backend {
	t.Helper()
	b, err := New(context.Background(), config(addr))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// What Vault's SDK demands of a backend, and of one with locks.
func TestSuite(t *testing.T) {
	rolling.OnBoth(t, func(t *testing.T, addr string) {
		b := mustOpen(t, addr)
		t.Run("backend", func(t *testing.T) { physical.ExerciseBackend(t, b) })
		t.Run("prefixes", func(t *testing.T) { physical.ExerciseBackend_ListPrefix(t, b) })
		t.Run("locks", func(t *testing.T) { physical.ExerciseHABackend(t, b, mustOpen(t, addr)) })
	})
}

// theirs opens the original, which has no Close: the link of its run ends with the test.
func theirs(addr string) (physical.HABackend, func(), error) {
	b, err := zookeeper.NewZooKeeperBackend(config(addr), hclog.NewNullLogger())
	if err != nil {
		return nil, nil, err
	}
	return b.(physical.HABackend), func() {}, nil
}

// ours opens the port.
func ours(addr string) (physical.HABackend, func(), error) {
	b, err := New(context.Background(), config(addr))
	return b, func() { b.Close() }, err
}

// side has instances of a backend take the lock of the active node.
func side(name string, open func(addr string) (physical.HABackend, func(), error)) rolling.Side {
	return rolling.Side{Name: name, Open: func(addr, id string) (rolling.Instance, error) {
		b, done, err := open(addr)
		if err != nil {
			return rolling.Instance{}, err
		}
		l, err := b.LockWith("core/lock", id)
		return rolling.Instance{
			Lock: func() (<-chan struct{}, func() error, error) {
				lost, err := l.Lock(nil)
				return lost, l.Unlock, err
			},
			Close: done,
		}, err
	}}
}

func TestRollingUpgrade(t *testing.T) { rolling.Runs(t, side("original", theirs), side("port", ours)) }
