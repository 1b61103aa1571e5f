package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A server is one, whatever names and addresses it has in the list and in the ensemble's configuration.
func TestNamesOfOneServer(t *testing.T) {
	inBubble(t, "the leader has two addresses in the list", func(t *testing.T) {
		w, e := three(t, zkmem.Options{})
		w.at["zz:2181"] = e.Leader()
		found(t, Examine(t.Context(), w.settings()), "warning not-listed zz:2181", "warning same-address zz:2181")
	})
	inBubble(t, "a standalone server has two addresses in the list", func(t *testing.T) {
		w, s := alone(t, zkmem.Options{})
		w.at["zz:2181"] = s
		found(t, Examine(t.Context(), w.settings()), "warning same-address zz:2181")
	})
	inBubble(t, "the configuration has names that clients do not know", func(t *testing.T) {
		w, _ := three(t, zkmem.Options{})
		s := w.settings()
		for i, name := range s.Servers {
			s.Servers[i] = "public-" + name
			w.at[s.Servers[i]] = w.at[name]
			delete(w.at, name)
		}
		s.LookUp = func(_ context.Context, host string) ([]string, error) {
			if strings.HasPrefix(host, "zk") {
				return nil, errors.New("no such host")
			}
			return []string{fmt.Sprintf("192.0.2.%d", host[len(host)-1])}, nil
		}
		if r := Examine(t.Context(), s); len(r.Servers) != 3 {
			t.Errorf("%d servers were asked", len(r.Servers))
		} else {
			found(t, r)
		}
		w.words["public-zk1:2181"] = true
		s.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			if strings.HasPrefix(address, "zk") {
				return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Name: "zk1", IsNotFound: true}}
			}
			return w.dial(ctx, address)
		}
		r := Examine(t.Context(), s)
		if !strings.Contains(r.Findings[0].Do, "Config.FollowEnsemble") {
			t.Error(r.Findings[0].Do)
		}
		found(t, r, "warning unreachable zk1:2181", "warning not-listed public-zk1:2181",
			"note list-incomplete ensemble", "note tick-assumed public-zk1:2181", "note words-closed public-zk1:2181")
	})
	inBubble(t, "the list has addresses where the configuration has names", func(t *testing.T) {
		w, _ := three(t, zkmem.Options{})
		s := w.settings()
		for i, name := range s.Servers {
			s.Servers[i] = fmt.Sprintf("10.0.0.%d:2181", name[2])
			w.at[s.Servers[i]] = w.at[name]
		}
		s.LookUp = func(_ context.Context, host string) ([]string, error) {
			return []string{fmt.Sprintf("10.0.0.%d", host[2])}, nil
		}
		if r := Examine(t.Context(), s); len(r.Servers) != 3 {
			t.Errorf("%d servers were asked", len(r.Servers))
		} else {
			found(t, r)
		}
	})
}
