package valkeyrie

import (
	"context"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/adopters/rolling"
	"github.com/kvtools/valkeyrie/store"
	"github.com/kvtools/valkeyrie/testsuite"
	"github.com/kvtools/zookeeper"
)

// theirs opens the original.
func theirs(addr string) (store.Store, error) {
	return zookeeper.New(context.Background(), []string{addr}, &zookeeper.Config{ConnectionTimeout: rolling.Timeout})
}

// ours opens the port.
func ours(addr string) (store.Store, error) {
	return New(context.Background(), []string{addr}, Config{SessionTimeout: rolling.Timeout})
}

func mustOpen(t *testing.T, open func(string) (store.Store, error), addr string) store.Store {
	t.Helper()
	s, err := open(addr)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The suite of valkeyrie, as the original runs it, and its test of a lock that ends with its store, which the original
// does not run.
func TestSuite(t *testing.T) {
	rolling.OnBoth(t, func(t *testing.T, addr string) {
		kv, ttl := mustOpen(t, ours, addr), mustOpen(t, ours, addr)
		defer kv.Close()
		for name, part := range map[string]func(*testing.T){
			"common": func(t *testing.T) { testsuite.RunTestCommon(t, kv) },
			"atomic": func(t *testing.T) { testsuite.RunTestAtomic(t, kv) },
			"watch":  func(t *testing.T) { testsuite.RunTestWatch(t, kv) },
			"lock":   func(t *testing.T) { testsuite.RunTestLock(t, kv) },
			"ttl":    func(t *testing.T) { testsuite.RunTestTTL(t, kv, ttl) },
			"lock with a ttl": func(t *testing.T) {
				testsuite.RunTestLockTTL(t, kv, mustOpen(t, ours, addr))
			},
		} {
			t.Run(name, part)
		}
		testsuite.RunCleanup(t, kv)
	})
}

// side has instances of a store take one lock.
func side(name string, open func(string) (store.Store, error)) rolling.Side {
	return rolling.Side{Name: name, Open: func(addr, id string) (rolling.Instance, error) {
		s, err := open(addr)
		if err != nil {
			return rolling.Instance{}, err
		}
		ctx := context.Background()
		l, err := s.NewLock(ctx, "service/lock", &store.LockOptions{Value: []byte(id), TTL: time.Second})
		return rolling.Instance{
			Lock: func() (<-chan struct{}, func() error, error) {
				lost, err := l.Lock(ctx)
				return lost, func() error { return l.Unlock(ctx) }, err
			},
			Close: func() { s.Close() },
		}, err
	}}
}

func TestRollingUpgrade(t *testing.T) { rolling.Runs(t, side("original", theirs), side("port", ours)) }
