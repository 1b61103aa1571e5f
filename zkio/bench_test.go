package zkio_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// benchAdapter is an attached adapter whose replies come on a channel.
func benchAdapter(b *testing.B) (*zkio.Adapter, <-chan events.Event) {
	srv := zkmem.Start(b)
	posted := make(chan events.Event, 1<<16)
	a, err := zkio.New(zkio.Config{
		Servers: []string{srv.Addr()}, Timeout: 15 * time.Second,
		Now:  func() int64 { return int64(time.Since(began)) },
		Post: func(e events.Envelope) { posted <- e.Event },
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = a.Close(context.Background()) })
	a.Execute(events.SessionMachine, events.Connect{Session: 1})
	<-posted
	return a, posted
}

// One request after the other, as an event loop sends them.
func BenchmarkRoundTrip(b *testing.B) {
	a, posted := benchAdapter(b)
	b.ReportAllocs()
	for i := range b.N {
		a.Execute(machine, events.Sync{Call: events.Call{Request: uint64(i), Session: 1}, Path: "/"})
		<-posted
	}
}

// The same with go-zookeeper alone: the difference is the cost of zkio.
func BenchmarkRoundTripPlain(b *testing.B) {
	srv := zkmem.Start(b)
	conn, _, err := zk.Connect([]string{srv.Addr()}, 15*time.Second, zk.WithLogInfo(false))
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	b.ReportAllocs()
	for range b.N {
		if _, err := conn.Sync("/"); err != nil {
			b.Fatal(err)
		}
	}
}

// Many requests concurrently, through the window.
func BenchmarkPipelined(b *testing.B) {
	a, posted := benchAdapter(b)
	b.ReportAllocs()
	for sent, answered := 0, 0; answered < b.N; {
		for ; sent < b.N && sent-answered < 1000; sent++ {
			a.Execute(machine, events.Sync{Call: events.Call{Request: uint64(sent), Session: 1}, Path: "/"})
		}
		<-posted
		answered++
	}
}
