// Command etcd is the side of etcd's own client, with its packages concurrency, in the comparison.
package main

import (
	"context"
	"math"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"

	"github.com/incumbent-go/incumbent/bench/peer"
)

func main() {
	peer.Main("etcd client "+peer.Module("go.etcd.io/etcd/client/v3"), open)
}

// session is a client with a lease. It is a peer.Session.
type session struct {
	client *clientv3.Client
	lease  *concurrency.Session
}

func open(servers []string, timeout time.Duration) (peer.Session, error) {
	client, err := clientv3.New(clientv3.Config{Endpoints: servers, DialTimeout: timeout, Logger: zap.NewNop()})
	if err != nil {
		return nil, err
	}
	seconds := int(math.Ceil(timeout.Seconds()))
	lease, err := concurrency.NewSession(client, concurrency.WithTTL(seconds))
	if err != nil {
		client.Close()
		return nil, err
	}
	return &session{client, lease}, nil
}

// Directory does nothing: etcd has none.
func (s *session) Directory(string) error { return nil }

func (s *session) Children(path string) (int, error) {
	found, err := s.client.Get(context.Background(), path+"/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return 0, err
	}
	return int(found.Count), nil
}

func (s *session) Close() {
	s.lease.Close()
	s.client.Close()
}

// Place returns a participant of a recipe. An election's key is the prefix and the lease, so a session has one place in
// it.
func (s *session) Place(recipe, path string) (peer.Place, error) {
	switch recipe {
	case "election":
		return election{concurrency.NewElection(s.lease, path)}, nil
	case "mutex":
		return mutex{concurrency.NewMutex(s.lease, path)}, nil
	}
	return nil, &peer.UnsupportedError{Recipe: recipe}
}

type election struct{ *concurrency.Election }

func (e election) Acquire() error { return e.Campaign(context.Background(), "") }
func (e election) Release() error { return e.Resign(context.Background()) }

type mutex struct{ *concurrency.Mutex }

func (m mutex) Acquire() error { return m.Lock(context.Background()) }
func (m mutex) Release() error { return m.Unlock(context.Background()) }
