package story

import (
	"context"
	"crypto/rand"
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

// Deaf is this library's latch with its heartbeat switched off: every request that asks the ensemble to confirm
// leadership is confirmed at once and never sent. All else is the library's own: the machines, the connection, the
// deadline. It shows what the heartbeat is for, and that whoever tests for it would see it missing.
type Deaf struct {
	loop  *engine.Loop
	io    *zkio.Adapter
	watch stopwatch
	stop  context.CancelFunc
	ended sync.WaitGroup
	token atomic.Int64 // 0 while it does not lead
}

// OpenDeaf has a deaf latch of this name join a line.
func OpenDeaf(servers, path, id string, timeout, tick time.Duration) (*Deaf, error) {
	d := &Deaf{watch: stopwatch{time.Now()}}
	addrs, chroot, err := zkio.ParseServers(servers)
	if err != nil {
		return nil, err
	}
	d.io, err = zkio.New(zkio.Config{
		Servers: addrs, Chroot: chroot, Timeout: timeout, Now: d.Now,
		Post: func(env events.Envelope) { d.loop.Post(env) },
		Warn: func(string) {},
	})
	if err != nil {
		return nil, err
	}
	d.loop = engine.NewLoop(engine.New(false, machines.Recipes()...), d, d, nil)
	ctx, stop := context.WithCancel(context.Background())
	d.stop = stop
	d.ended.Go(func() { d.loop.Run(ctx) })
	d.post(events.SessionMachine,
		events.Event{Kind: events.CommandOpen, Recipe: machines.SessionRecipe.Name(), Seed: rand.Text(),
			Options: map[string]string{"tick": tick.String()}})
	d.post(events.SessionMachine, events.Event{Kind: events.CommandStart})
	d.post(theLatch,
		events.Event{Kind: events.CommandOpen, Recipe: machines.LatchRecipe.Name(), Seed: rand.Text(), Path: path,
			Data: []byte(id)})
	d.post(theLatch, events.Event{Kind: events.CommandStart})
	return d, nil
}

func openDeaf(t testing.TB, w where) believer {
	t.Helper()
	d, err := OpenDeaf(w.servers, w.path, "", w.timeout, w.tick)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *Deaf) post(to events.ID, ev events.Event) { d.loop.Post(events.Envelope{To: to, Event: ev}) }

// Now and Timer are the loop's clock.
func (d *Deaf) Now() int64 { return int64(d.watch.at()) + 1 }

// Timer delivers once after a duration.
func (d *Deaf) Timer(after time.Duration) (<-chan time.Time, func()) {
	timer := time.NewTimer(after)
	return timer.C, func() { timer.Stop() }
}

// Execute performs what the machines want, but for the heartbeat.
func (d *Deaf) Execute(id events.ID, effect events.Effect) {
	switch e := effect.(type) {
	case events.Notify:
		if id == theLatch && (e.What == events.Elected || e.What == events.Stopped) {
			d.token.Store(0)
			if e.What == events.Elected {
				d.token.Store(e.Token)
			}
		}
	case events.Sync:
		d.confirm(id, e.Call, events.ReplySync)
	case events.Multi:
		d.confirm(id, e.Call, events.ReplyMulti)
	default:
		d.io.Execute(id, effect)
	}
}

// confirm answers as an ensemble whose leader has just heard of the session.
func (d *Deaf) confirm(id events.ID, c events.Call, kind events.Kind) {
	now := d.Now()
	d.post(id, events.Event{Kind: kind, Request: c.Request, Session: c.Session, SentAt: now, Contact: now})
}

// Token is that of the term that is led under now, 0 for none.
func (d *Deaf) Token() int64 { return d.token.Load() }

// Resign gives leadership up and queues again at the tail.
func (d *Deaf) Resign() { d.post(theLatch, events.Event{Kind: events.CommandResign}) }

// Close ends everything at once. The session is left to expire.
func (d *Deaf) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	d.io.Close(ctx)
	d.stop()
	d.ended.Wait()
}

func (d *Deaf) believes() bool { return d.Token() != 0 }
func (d *Deaf) close()         { d.Close() }
