package door_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/internal/sources"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// answerAtRandom is a server that answers the handshake, and then every request with random frames:
// any request's number, any code, any body, watch events too.
func answerAtRandom(dice *rand.Rand, conn net.Conn) {
	defer conn.Close()
	in := make([]byte, 1<<16)
	if _, err := conn.Read(in); err != nil {
		return
	}
	greeting := make([]byte, 4+36)
	greeting[3], greeting[4+6], greeting[4+7], greeting[4+15], greeting[4+19] = 36, 0x3a, 0x98, 1, 16
	if _, err := conn.Write(greeting); err != nil {
		return
	}
	xid := int32(0)
	for {
		n, err := conn.Read(in)
		if err != nil {
			return
		}
		if n >= 8 {
			xid = int32(binary.BigEndian.Uint32(in[4:]))
		}
		for range dice.IntN(4) {
			if _, err := conn.Write(invent(dice, xid)); err != nil {
				return
			}
		}
	}
}

func invent(dice *rand.Rand, xid int32) []byte {
	if dice.IntN(4) == 0 {
		xid += int32(dice.IntN(9) - 6)
	}
	code, size := 0, dice.IntN(200)
	if dice.IntN(3) == 0 {
		code = -dice.IntN(130)
	}
	f := binary.BigEndian.AppendUint32(nil, uint32(16+size))
	f = binary.BigEndian.AppendUint32(f, uint32(xid))
	f = binary.BigEndian.AppendUint64(f, dice.Uint64N(1<<40))
	f = binary.BigEndian.AppendUint32(f, uint32(int32(code)))
	for range size {
		f = append(f, byte(dice.IntN(256)*dice.IntN(2)))
	}
	if dice.IntN(50) == 0 {
		return append([]byte{0x7f}, f[1:]...)
	}
	return f
}

// TestAServerThatAnswersAtRandom: the client neither crashes nor grows, never leads, and every call
// ends with its context.
func TestAServerThatAnswersAtRandom(t *testing.T) {
	for seed := range uint64(selection.Of(t, "seeds", 3, 4, 8)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				dice := rand.New(rand.NewPCG(seed, 3))
				var mu sync.Mutex
				var serving sync.WaitGroup
				t.Cleanup(serving.Wait)
				from := w.sources(&node{})
				from.Seed = func() string { return fmt.Sprintf("%032x", seed) }
				c, err := incumbent.Open(sources.With(t.Context(), from),
					incumbent.Config{Servers: "192.0.2.1:2181", Record: incumbent.RecordTo(io.Discard),
						Dial: func(context.Context, string, string) (net.Conn, error) {
							mu.Lock()
							own := rand.New(rand.NewPCG(dice.Uint64(), 4))
							mu.Unlock()
							client, server := net.Pipe()
							serving.Go(func() { answerAtRandom(own, server) })
							return client, nil
						}})
				if err != nil {
					t.Fatal(err)
				}
				latch, err := c.Latch("/line", incumbent.LatchOptions{})
				if err == nil {
					err = latch.Start()
				}
				if err != nil {
					t.Fatal(err)
				}
				before := heap()
				for range 20 {
					call, cancel := context.WithTimeout(t.Context(), time.Minute)
					start := time.Now()
					l, err := latch.Await(call)
					cancel()
					if err == nil {
						t.Fatalf("it leads %s", l.Term().Path)
					}
					if took := time.Since(start); took > time.Minute || errors.Is(err, context.DeadlineExceeded) &&
						took < time.Minute {
						t.Errorf("Await took %s: %v", took, err)
					}
				}
				if grown := int64(heap()) - int64(before); grown > 16<<20 {
					t.Errorf("%d bytes more in use", grown)
				}
				last, cancel := context.WithTimeout(context.Background(), 5*time.Second)
				defer cancel()
				start := time.Now()
				_ = c.Close(last)
				if took := time.Since(start); took > 10*time.Second {
					t.Errorf("Close took %s", took)
				}
				synctest.Wait()
			})
		})
	}
}

// heap returns how many bytes are in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
