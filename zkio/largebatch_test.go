package zkio

import (
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// A large request is copied once: the buffer that it gets has room for all of it.
func TestALargeRequestIsCopiedOnce(t *testing.T) {
	for _, size := range []int{0, 100, 10_000, 300_000} {
		a, err := New(Config{Servers: []string{"zk1:2181"}, Timeout: 15e9, Now: func() int64 { return 1 }, Post: func(events.Envelope) {}})
		if err != nil {
			t.Fatal(err)
		}
		ops := []events.Op{{Verb: "set", Path: "/q-producers/01234567-89ab-cdef-0123-456789abcdef", Data: []byte("4711"), Version: 4711}}
		for range max(1, min(100, (512<<10)/max(size, 1))) {
			ops = append(ops, events.Op{Verb: "create", Path: "/q/queue-", Mode: events.PersistentSequential, Data: make([]byte, size)})
		}
		c := a.newCall("", events.Multi{Call: events.Call{Session: 1}, Ops: ops})
		if c.refusal != "" {
			t.Fatal(c.refusal)
		}
		buffer := frame("before").room(c.size)
		before := &buffer[0]
		if encoded := a.encode(buffer, 1, c); size > 100 && &encoded[0] != before {
			t.Errorf("%d items of %d bytes: %d bytes do not fit into the room for %d", len(ops)-1, size, len(encoded), c.size)
		}
		if kept := buffer.kept(); size > 100 && kept != nil {
			t.Errorf("a buffer of %d bytes stays with its connection", cap(kept))
		}
	}
}

// A connection's own buffer, for small requests, grows up to 8 KiB and stays.
func TestASmallBufferStays(t *testing.T) {
	f := append(frame(nil).room(1000), make(frame, 1000)...)
	if cap(f) > 2000 || f.kept() == nil || &f.room(20)[0] != &f[0] {
		t.Errorf("a batch of 1000 bytes has a buffer of %d, which stays: %t", cap(f), f.kept() != nil)
	}
}
