package zkio

import (
	"fmt"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// A large request is copied once: the buffer that it gets has room for all of it.
func TestALargeRequestIsCopiedOnce(t *testing.T) {
	for _, size := range []int{0, 100, 10_000, 300_000} {
		a, err := New(Config{Servers: []string{"zk1:2181"}, Timeout: 15e9, Now: func() int64 { return 1 },
			Post: func(events.Envelope) {}})
		if err != nil {
			t.Fatal(err)
		}
		ops := []events.Op{{Verb: "set", Path: "/q-producers/01234567-89ab-cdef-0123-456789abcdef",
			Data: []byte("4711"), Version: 4711}}
		for range max(1, min(100, (512<<10)/max(size, 1))) {
			ops = append(ops,
				events.Op{Verb: "create", Path: "/q/queue-", Mode: events.PersistentSequential,
					Data: make([]byte, size)})
		}
		c := a.newCall("", events.Multi{Call: events.Call{Session: 1}, Ops: ops})
		if c.refusal != "" {
			t.Fatal(c.refusal)
		}
		buffer := withRoom(frame("before"), c.size)
		before := &buffer[0]
		if encoded := a.encode(buffer, 1, c); size > 100 && &encoded[0] != before {
			t.Errorf("%d items of %d bytes: %d bytes do not fit into the room for %d", len(ops)-1, size,
				len(encoded), c.size)
		}
		if kept := keepable(buffer); size > 100 && kept != nil {
			t.Errorf("a buffer of %d bytes stays with its connection", cap(kept))
		}
	}
}

// A connection's own buffer, for small requests, grows up to 8 KiB and stays.
func TestASmallBufferStays(t *testing.T) {
	f := append(withRoom(nil, 1000), make(frame, 1000)...)
	if cap(f) > 2000 || keepable(f) == nil || &withRoom(f, 20)[0] != &f[0] {
		t.Errorf("a batch of 1000 bytes has a buffer of %d, which stays: %t", cap(f), keepable(f) != nil)
	}
}

// No request is sent that is larger than the limit, above which a server closes the connection: nor if its size is that
// of a long access list.
func TestALongAccessListCounts(t *testing.T) {
	cfg := Config{Servers: []string{"zk1:2181"}, Timeout: 15e9, Now: func() int64 { return 1 },
		Post: func(events.Envelope) {}}
	for i := range 100 {
		cfg.ACL = append(cfg.ACL,
			ACL{Perms: PermAll, Scheme: "digest", ID: fmt.Sprintf("user-%d:0123456789abcdef0123456789a=", i)})
	}
	a, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	sent, refused := 0, 0
	for items := 1; items < 1000; items *= 2 {
		ops := []events.Op{{Verb: "set", Path: "/marker", Data: []byte("4711")}}
		for range items {
			ops = append(ops,
				events.Op{Verb: "create", Path: "/q/queue-", Mode: events.PersistentSequential,
					Data: make([]byte, 100)})
		}
		data := make([]byte, min(items<<13, a.cfg.MaxRequest-3000))
		for _, request := range []events.Request{
			events.Multi{Call: events.Call{Session: 1}, Ops: ops},
			events.Create{Call: events.Call{Session: 1}, Path: "/n", Data: data, Mode: events.Persistent},
		} {
			c := a.newCall("", request)
			if c.refusal != "" {
				refused++
				continue
			}
			sent++
			if size := len(a.encode(nil, 1, c)); size > a.cfg.MaxRequest || size > c.size {
				t.Errorf("%T of %d items: %d bytes, taken for %d, of at most %d", request, items, size, c.size,
					a.cfg.MaxRequest)
			}
		}
	}
	if sent == 0 || refused == 0 {
		t.Errorf("%d requests are sent, %d are refused", sent, refused)
	}
}
