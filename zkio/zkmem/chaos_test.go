package zkmem

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/repeat"
)

// Clients write while servers are stopped, cut off, frozen, deposed, removed and lag, one after the other. In the end
// all members have the same data, and every write that was answered is there, and none twice.
func TestWhatWasAnsweredSurvivesEveryFault(t *testing.T) {
	seed := repeat.Seed(t, 1)
	dice := rand.New(rand.NewPCG(seed, 1))
	e, _, _ := three(t,
		Options{Tick: 20 * time.Millisecond, MinSessionTimeout: time.Minute, MaxSessionTimeout: time.Minute})
	writers := make([]*faultWriter, 6)
	quit, tried := make(chan struct{}), make(chan struct{})
	var work sync.WaitGroup
	for i := range writers {
		w := &faultWriter{t: t, e: e, name: fmt.Sprint("w", i), tried: tried, quit: quit,
			dice: rand.New(rand.NewPCG(seed, uint64(i+2)))}
		writers[i] = w
		work.Go(w.run)
	}
	for range 150 {
		fault(t, e, dice)
		for range 1 + dice.IntN(20) { // a fault lasts until so many writes and connections were tried
			<-tried
		}
	}
	e.Heal()
	for _, s := range e.Servers() {
		do(t, s.Restart())
	}
	for range 100 { // members that are removed get what is written, too
		<-tried
	}
	close(quit)
	work.Wait()
	same(t, e)
	tree, answered := e.Leader().Snapshot(), 0
	for _, w := range writers {
		answered += len(w.answered)
		for _, path := range w.answered {
			if !tree.Exists(path) {
				t.Errorf("%s was answered, and is gone", path)
			}
		}
	}
	t.Logf("%d writes were answered, in %d epochs", answered, tree.Zxid()>>32)
	if answered == 0 {
		t.Error("nothing was written")
	}
}

// fault does one thing to the ensemble.
func fault(t *testing.T, e *Ensemble, dice *rand.Rand) {
	s := e.Servers()[dice.IntN(3)]
	switch dice.IntN(11) {
	case 0:
		s.Stop()
	case 1, 2:
		do(t, s.Restart())
	case 3:
		_ = e.Isolate(s) // it may be stopped
	case 4:
		_ = e.Freeze(s)
	case 5:
		_ = e.Lag(s, time.Duration(dice.IntN(5))*time.Millisecond)
	case 6:
		_, _, _ = e.Depose()
	case 7:
		e.Advance(time.Duration(dice.IntN(100)) * time.Millisecond)
	case 8:
		_ = e.Remove(s) // there may be no quorum, or none of the new configuration
	case 9:
		_ = e.Add(s)
	default:
		e.Heal()
	}
	if l := e.Leader(); l != nil {
		_, _ = l.Create("/fault-", nil, PersistentSequential)
	}
}

// faultWriter writes through one session at any member. It never writes a name twice: a second one would be refused.
type faultWriter struct {
	t        *testing.T
	e        *Ensemble
	name     string
	dice     *rand.Rand
	tried    chan<- struct{} // a write or a connection succeeded or failed
	quit     <-chan struct{}
	session  int64
	secret   []byte
	seen     int64 // the last zxid: a member that is behind refuses the session
	tries    int
	answered []string
}

func (w *faultWriter) run() {
	for w.goesOn() {
		w.connect(w.e.Servers()[w.dice.IntN(3)])
	}
}

// goesOn reports a try, and whether there is to be another one.
func (w *faultWriter) goesOn() bool {
	select {
	case w.tried <- struct{}{}:
		return true
	case <-w.quit:
		return false
	}
}

// connect writes over one connection until that ends, or says nothing for a moment.
func (w *faultWriter) connect(s *Server) {
	client, server := net.Pipe()
	go s.ServeConn(server)
	defer client.Close()
	_ = client.SetDeadline(time.Now().Add(50 * time.Millisecond))
	c := &rawClient{t: w.t, nc: client}
	_, introduced := c.handshake(w.session, w.secret, w.seen, false)
	switch {
	case !introduced:
		return
	case c.session == 0:
		w.t.Errorf("session %x has ended", w.session)
		w.session, w.secret = 0, nil
		return
	}
	for range 20 {
		if !w.goesOn() {
			return
		}
		w.tries++
		path := fmt.Sprintf("/%s-%d", w.name, w.tries)
		code, _, err := c.ask(OpCreate, create(path, Persistent))
		if err != nil {
			return
		}
		if code != OK {
			w.t.Errorf("create %s: %v", path, code)
			return
		}
		w.session, w.secret, w.seen = c.session, c.secret, c.zxid
		w.answered = append(w.answered, path)
	}
}
