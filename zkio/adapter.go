package zkio

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// Adapter performs the effects of one loop on one ensemble.
type Adapter struct {
	coding
	hosts     *hosts
	network   network
	signs     signs
	known     optional
	history   history
	suspects  suspects
	own       ownCertificate
	mechanism string         // the name of Config.SASL
	work      sync.WaitGroup // every goroutine that the adapter started

	mechanismCalls atomic.Int32 // of Config.SASL, that run

	mu     sync.Mutex
	live   *session // the session opened last; it may have ended
	closed bool
}

// New checks the settings and returns an adapter that has not dialled yet: the effect
// Connect makes it dial. The error says which setting is wrong and what would be right.
func New(cfg Config) (*Adapter, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	mechanism, err := cfg.checkSASL()
	if err != nil {
		return nil, err
	}
	a := &Adapter{coding: newCoding(cfg), mechanism: mechanism, hosts: newHosts(cfg.Servers, cfg),
		network: systemNetwork()}
	a.signs.ask = cfg.SignOfLife
	a.ReadCertificate()
	for _, text := range cfg.warnings() {
		cfg.Warn(text)
	}
	return a, nil
}

// String returns the name of the ensemble.
func (a *Adapter) String() string {
	return "zkio.Adapter(" + strings.Join(a.cfg.Servers, ",") + a.cfg.Chroot + ")"
}

// Format prints the same as String for every verb: the fields change, and hold credentials.
func (a *Adapter) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, a.String()) }

// Execute performs the effects that are ZooKeeper's and ignores all others. Only the loop's
// goroutine may call it; it never blocks. Replies go to Config.Post, for some refusals
// before Execute returns.
func (a *Adapter) Execute(id events.ID, e events.Effect) {
	switch e := e.(type) {
	case events.Connect:
		a.connect(e.Session)
	case events.CloseSession:
		if s := a.session(e.Session); s != nil {
			s.close()
			return
		}
		a.post(events.SessionMachine, events.Event{
			Kind: events.ConnectionClosed, Session: e.Session,
			Code: events.SessionExpired, Text: "the session had ended already",
		})
	case events.Abandon:
		if s := a.session(e.Session); s != nil {
			s.abandon("abandoned")
		}
	case events.Leave:
		if s := a.session(e.Session); s != nil {
			s.leaveServer(e.Code)
		}
	case events.Request:
		a.submit(a.newCall(id, e))
	}
}

// ExecuteWith does what Execute does with a request that creates nodes, and gives them these access lists, by the
// places of the operations. Nil, or none, is Config.ACL.
func (a *Adapter) ExecuteWith(id events.ID, r events.Request, lists [][]ACL) {
	a.submit(a.newCall(id, r, lists...))
}

// Forget is called when a machine has closed, after its last effect: nothing is watched for
// it any longer, its reads that have not been sent are dropped, and no reply to a read is
// posted to it. Its writes are sent, and answered. Any goroutine may call it.
func (a *Adapter) Forget(id events.ID) {
	a.mu.Lock()
	s := a.live
	a.mu.Unlock()
	if s != nil {
		s.forget(id)
	}
}

// Close ends everything immediately: it abandons the live session without closing it (the
// effect CloseSession closes it) and shuts the sockets. It returns when the last goroutine
// has ended or ctx has. Any goroutine may call it, more than once.
func (a *Adapter) Close(ctx context.Context) error {
	a.mu.Lock()
	a.closed = true
	s := a.live
	a.mu.Unlock()
	if s != nil {
		s.abandon("the adapter was closed")
	}
	gone := make(chan struct{})
	go func() {
		a.work.Wait()
		close(gone)
	}()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// connect opens session number n. An earlier session that is still open is abandoned first:
// there is never more than one.
func (a *Adapter) connect(n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.live != nil {
		a.live.abandon("session " + itoa(n) + " replaces it")
	}
	if !a.closed {
		a.live = openSession(a, n)
		return
	}
	const text = "the adapter is closed"
	a.post(events.SessionMachine, events.Event{
		Kind: events.ConnectionRefused, Session: n, Code: events.NotSent, Text: text,
	})
	a.post(events.SessionMachine, events.Event{
		Kind: events.ConnectionLost, Session: n, Code: events.NotSent, Text: text,
	})
}

// submit passes a call to its session. A call of any other session is answered immediately
// and never sent.
func (a *Adapter) submit(c *call) {
	if c.refusal != "" {
		c.deliver(c.event(events.NotSent, c.refusal), Kept{})
		return
	}
	s := a.session(c.session)
	if s == nil {
		c.deliver(c.event(events.SessionExpired, "session "+itoa(c.session)+" is not the live one"), Kept{})
		return
	}
	s.submit(c)
}

// session returns the session with this number if it is the one opened last.
func (a *Adapter) session(n int64) *session {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.live == nil || a.live.number != n {
		return nil
	}
	return a.live
}

// Certificate returns the subject of the client's own certificate, and when it ends, as it was presented or read
// last; a zero time if there is none. It is safe for concurrent use.
func (a *Adapter) Certificate() (name string, end time.Time) {
	a.own.mu.Lock()
	defer a.own.mu.Unlock()
	return a.own.name, a.own.end
}

// ReadCertificate reads the files of TLS again, for Certificate: they may have been renewed while a connection lasts.
func (a *Adapter) ReadCertificate() {
	if a.cfg.TLS == nil {
		return
	}
	if config, err := a.cfg.TLS.config(""); err == nil && len(config.Certificates) > 0 {
		a.own.note(&config.Certificates[0])
	}
}
