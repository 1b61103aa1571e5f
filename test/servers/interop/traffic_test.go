package interop

import (
	"encoding/binary"
	"sync/atomic"
	"testing"
)

// traffic is what went through a proxy: frames of clients, with their handshakes and pings, and bytes.
type traffic struct{ requests, up, down atomic.Int64 }

// reset begins to count again.
func (c *traffic) reset() {
	c.requests.Store(0)
	c.up.Store(0)
	c.down.Store(0)
}

// frames counts the frames in a stream of bytes: each begins with its length.
type frames struct {
	count *atomic.Int64
	head  []byte
	left  int // bytes of the present frame that are to come
}

func (f *frames) add(b []byte) {
	for len(b) > 0 {
		if f.left > 0 {
			n := min(f.left, len(b))
			f.left, b = f.left-n, b[n:]
			continue
		}
		n := min(4-len(f.head), len(b))
		f.head, b = append(f.head, b[:n]...), b[n:]
		if len(f.head) == 4 {
			f.left, f.head = int(binary.BigEndian.Uint32(f.head)), f.head[:0]
			f.count.Add(1)
		}
	}
}

func TestFramesAreCountedHoweverTheyAreCut(t *testing.T) {
	stream := []byte{0, 0, 0, 3, 'a', 'b', 'c', 0, 0, 0, 0, 0, 0, 0, 5, 1, 2, 3, 4, 5}
	for size := 1; size <= len(stream); size++ {
		var n atomic.Int64
		f := frames{count: &n}
		for from := 0; from < len(stream); from += size {
			f.add(stream[from:min(from+size, len(stream))])
		}
		if n.Load() != 3 || f.left != 0 {
			t.Errorf("in pieces of %d bytes: %d frames, and %d bytes are missing", size, n.Load(), f.left)
		}
	}
}
