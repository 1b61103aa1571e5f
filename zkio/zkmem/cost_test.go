package zkmem

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"runtime"
	"testing"
	"time"
)

// What the server allocates for a request, in objects and bytes. The client's frame is made before, and its buffer is
// used again: all that is counted is the server's. The bounds are what it is now and a fifth more; make bench-peers
// PART=double has the times.
func TestWhatARequestAllocates(t *testing.T) {
	s := Start(t)
	s.Create("/n", make([]byte, 100), Persistent)
	c := newSession(t, s, time.Minute)
	for _, one := range []struct {
		op             OpCode
		body           func(*encoder)
		objects, bytes float64
	}{
		{OpGetData, read("/n", false), 9, 680},
		{OpSetData, func(e *encoder) { e.text("/n"); e.bytes(make([]byte, 100)); e.int32(-1) }, 15, 1120},
		{OpGetChildren, read("/", false), 7, 275},
		{OpCreate, create("/s-", PersistentSequential), 25, 1650},
	} {
		objects, bytes := perRequest(t, c.nc, one.op, one.body)
		t.Logf("%s: %.2f objects, %.0f bytes", one.op, objects, bytes)
		if objects > one.objects || bytes > one.bytes {
			t.Errorf("%s: %.2f objects and %.0f bytes, want at most %.0f and %.0f", one.op, objects, bytes, one.objects,
				one.bytes)
		}
	}
}

// perRequest sends a request many times and returns what this process allocated for each.
func perRequest(t *testing.T, nc net.Conn, op OpCode, body func(*encoder)) (objects, bytes float64) {
	t.Helper()
	e := newFrame()
	e.int32(1)
	e.int32(int32(op))
	body(e)
	frame, buffer := e.frame(), make([]byte, 1<<16)
	send := func() {
		_, _ = nc.Write(frame) // what is wrong with it, the read says
		if _, err := io.ReadFull(nc, buffer[:4]); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(nc, buffer[:binary.BigEndian.Uint32(buffer)]); err != nil {
			t.Fatal(err)
		}
		if code := int32(binary.BigEndian.Uint32(buffer[12:])); code != 0 {
			t.Fatalf("%s was refused with %d", op, code)
		}
	}
	const runs = 2000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	objects = testing.AllocsPerRun(runs, send)
	runtime.ReadMemStats(&after)
	return objects, float64(after.TotalAlloc-before.TotalAlloc) / (runs + 1)
}

// What a node and a session hold in memory.
func TestWhatANodeAndASessionHold(t *testing.T) {
	s := New(Options{MaxConnections: 1 << 30})
	defer s.Close()
	const nodes, sessions = 20_000, 200
	s.Create("/n", nil, Persistent)
	before := inUse()
	for i := range nodes {
		s.Create(fmt.Sprintf("/n/%05d", i), make([]byte, 100), Persistent)
	}
	node := (inUse() - before) / nodes
	before = inUse()
	clients := make([]*rawClient, sessions)
	for i := range clients {
		clients[i] = newSession(t, s, time.Minute)
	}
	session := (inUse() - before) / sessions
	t.Logf("a node with 100 bytes: %d bytes; a session: %d bytes, stacks and its client's pipe included", node, session)
	const mostNode, mostSession = 560, 26_000
	if node > mostNode || session > mostSession {
		t.Errorf("a node holds %d bytes and a session %d, want at most %d and %d", node, session, mostNode, mostSession)
	}
	runtime.KeepAlive(clients)
}

// inUse returns how much memory this process uses, stacks included.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
