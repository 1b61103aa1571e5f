package story

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
)

const theLatch events.ID = "latch-1"

// deaf is this library's latch with its heartbeat switched off: every request that asks the ensemble to confirm leadership
// is confirmed at once and never sent. All else is the library's own: the machines, the connection, the deadline. It
// shows what the heartbeat is for, and that these tests would see it missing.
type deaf struct {
	loop  *engine.Loop
	io    *zkio.Adapter
	watch stopwatch
	stop  context.CancelFunc
	ended sync.WaitGroup
	leads atomic.Bool
}

func openDeaf(t testing.TB, w where) believer {
	t.Helper()
	d := &deaf{watch: stopwatch{time.Now()}}
	servers, chroot, err := zkio.ParseServers(w.servers)
	if err != nil {
		t.Fatal(err)
	}
	d.io, err = zkio.New(zkio.Config{
		Servers: servers, Chroot: chroot, Timeout: w.timeout, Now: d.Now,
		Post: func(env events.Envelope) { d.loop.Post(env) },
		Warn: func(string) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	d.loop = engine.NewLoop(engine.New(false, machines.Recipes()...), d, d, nil)
	ctx, stop := context.WithCancel(context.Background())
	d.stop = stop
	d.ended.Go(func() { d.loop.Run(ctx) })
	d.post(events.SessionMachine, events.Event{Kind: events.CommandOpen, Recipe: machines.SessionRecipe.Name(), Seed: w.path,
		Options: map[string]string{"tick": w.tick.String()}})
	d.post(events.SessionMachine, events.Event{Kind: events.CommandStart})
	d.post(theLatch, events.Event{Kind: events.CommandOpen, Recipe: machines.LatchRecipe.Name(), Seed: w.path + w.servers, Path: w.path})
	d.post(theLatch, events.Event{Kind: events.CommandStart})
	return d
}

func (d *deaf) post(to events.ID, ev events.Event) { d.loop.Post(events.Envelope{To: to, Event: ev}) }

// Now and Timer are the loop's clock.
func (d *deaf) Now() int64 { return int64(d.watch.at()) + 1 }

// Timer delivers once after a duration.
func (d *deaf) Timer(after time.Duration) (<-chan time.Time, func()) {
	timer := time.NewTimer(after)
	return timer.C, func() { timer.Stop() }
}

// Execute performs what the machines want, but for the heartbeat.
func (d *deaf) Execute(id events.ID, effect events.Effect) {
	switch e := effect.(type) {
	case events.Notify:
		if id == theLatch && (e.What == events.Elected || e.What == events.Deposed) {
			d.leads.Store(e.What == events.Elected)
		}
	case events.Sync:
		d.confirm(id, e.Call, events.ReplySync)
	case events.Multi:
		d.confirm(id, e.Call, events.ReplyMulti)
	default:
		d.io.Execute(id, effect)
	}
}

// confirm answers in the ensemble's place.
func (d *deaf) confirm(id events.ID, c events.Call, kind events.Kind) {
	d.post(id, events.Event{Kind: kind, Request: c.Request, Session: c.Session, SentAt: d.Now()})
}

func (d *deaf) believes() bool { return d.leads.Load() }

func (d *deaf) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	d.io.Close(ctx)
	d.stop()
	d.ended.Wait()
}
