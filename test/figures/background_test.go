package figures

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/tape"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// flight counts the pending requests of a connection, and their maximum.
type flight struct {
	net.Conn
	in, out   frames
	now, most atomic.Int64
}

func (f *flight) Read(p []byte) (int, error) {
	n, err := f.Conn.Read(p)
	f.in.pass(p[:n], func(xid int32) {
		if xid > 0 {
			f.now.Add(-1)
		}
	})
	return n, err
}

func (f *flight) Write(p []byte) (int, error) {
	f.out.pass(p, func(xid int32) {
		if xid > 0 {
			f.most.Store(max(f.most.Load(), f.now.Add(1)))
		}
	})
	return f.Conn.Write(p)
}

// Ten thousand creates in the background, at a server that answers none of them for a
// while: the memory they need meanwhile, how many are pending, and that none is lost.
func TestManyRequestsInTheBackground(t *testing.T) { alone(t, manyRequestsInTheBackground) }

func manyRequestsInTheBackground(t *testing.T) {
	srv := zkmem.Start(t)
	found(t, srv, "/n")
	many := size()
	ctx, cancel := context.WithTimeout(context.Background(), 10*tape.Within)
	defer cancel()
	wire := &flight{}
	c, err := incumbent.Open(ctx,
		incumbent.Config{Servers: srv.Addr(),
			Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
				var d net.Dialer
				var err error
				wire.Conn, err = d.DialContext(ctx, network, address)
				return wire, err
			}})
	ok(t, err)
	ok(t, c.WaitConnected(ctx))
	gate := make(chan struct{})
	srv.Intercept(func(r zkmem.Request) (v zkmem.Verdict) {
		if strings.HasPrefix(r.Path, "/n/") {
			v.Wait = gate
		}
		return v
	})
	goroutines, before := runtime.NumGoroutine(), heap()+stacks()
	var heard sync.WaitGroup
	heard.Add(many)
	var wrong atomic.Int64
	for i := range many {
		path := fmt.Sprintf("/n/%05d", i)
		c.Create(path, []byte("a hundred bytes or so")).Background(ctx, func(r incumbent.Result) {
			if r.Err != nil || r.Created != path {
				wrong.Add(1)
			}
			heard.Done() // a second call panics
		})
	}
	// The loop has had its turn with all of them when it has with what came after.
	after, err := c.Latch("/after", incumbent.LatchOptions{})
	ok(t, err)
	ok(t, after.Close(ctx))
	figure(t, fmt.Sprintf("goroutines more with %d requests that wait", many),
		runtime.NumGoroutine()-goroutines, many+200)
	figure(t, "bytes of heap and stack for each of them", int((heap()+stacks()-before)/int64(many)), 16<<10)
	close(gate)
	heard.Wait()
	names, err := c.Children("/n").Do(ctx)
	ok(t, err)
	if len(names) != many || wrong.Load() != 0 {
		t.Errorf("%d nodes were made of %d, and %d answers were wrong", len(names), many, wrong.Load())
	}
	figure(t, "requests under way at a time", int(wire.most.Load()), 65)
	figure(t, "goroutines more when all are answered", settledGoroutines(goroutines)-goroutines, 4)
	ok(t, c.Close(ctx))
}

func stacks() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.StackInuse)
}
