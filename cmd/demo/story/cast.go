package story

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/incumbent-go/incumbent"
)

// participant is a participant with its own client, and so its own session.
type participant struct {
	name   string
	client *incumbent.Client
	latch  *incumbent.Latch
	log    *bytes.Buffer
	again  chan struct{} // one value for each reconnect

	term  incumbent.Term // its last term, by its listener
	began time.Time
}

// change is a call of a participant's listener.
type change struct {
	who  string
	term incumbent.Term
	lost error // nil: it leads
	at   time.Time
}

// open connects a participant.
func (p *demoRun) open(name string) (*participant, error) {
	a := &participant{name: name, log: &bytes.Buffer{}, again: make(chan struct{}, 16)}
	cfg := incumbent.Config{Servers: p.srv.Addr(), SessionTimeout: timeout, Tick: tick,
		Record: incumbent.RecordTo(a.log)}
	if len(p.participants) == 0 {
		cfg.Record = incumbent.RecordTo(io.MultiWriter(a.log, p.Log))
	}
	var err error
	if a.client, err = incumbent.Open(p.ctx, cfg); err != nil {
		return nil, err
	}
	p.participants = append(p.participants, a)
	a.client.OnConnection(func(s incumbent.ConnectionState) {
		if s == incumbent.Reconnected {
			a.again <- struct{}{}
		}
	})
	return a, a.client.WaitConnected(p.ctx)
}

// join connects a participant, and starts its latch.
func (p *demoRun) join(name string) error {
	a, err := p.open(name)
	if err != nil {
		return fmt.Errorf("%s connects: %w", name, err)
	}
	if a.latch, err = a.client.Latch(dir, incumbent.LatchOptions{ID: name}); err != nil {
		return err
	}
	a.latch.AddListener(incumbent.Listener{
		IsLeader:  func(t incumbent.Term) { p.changes <- change{name, t, nil, time.Now()} },
		NotLeader: func(t incumbent.Term, why error) { p.changes <- change{name, t, why, time.Now()} },
	})
	return a.latch.Start()
}

func (p *demoRun) participant(name string) *participant {
	for _, a := range p.participants {
		if a.name == name {
			return a
		}
	}
	return nil
}

func (a *participant) reconnected(ctx context.Context) error {
	select {
	case <-a.again:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// handOver waits until next leads and before no longer does, and prints it. Any other
// change is an error.
func (p *demoRun) handOver(next, before string) error {
	leads, ended := change{}, change{}
	for leads.who == "" || before != "" && ended.who == "" {
		var c change
		select {
		case c = <-p.changes:
		case <-p.ctx.Done():
			return fmt.Errorf("waiting for %s to lead: %w", next, context.Cause(p.ctx))
		}
		switch {
		case c.lost == nil && c.who == next && leads.who == "":
			leads = c
		case c.lost != nil && c.who == before && ended.who == "":
			ended = c
		case c.lost == nil:
			return fmt.Errorf("%s leads, but it is the turn of %s", c.who, next)
		default:
			return fmt.Errorf("%s says that it does not lead any more (%w), but it is the turn of %s after %q", c.who,
				c.lost, next, before)
		}
	}
	a := p.participant(next)
	a.term, a.began = leads.term, leads.at
	line := Line{Event: "leads", Who: next}
	if before != "" {
		line.Previous, line.Why = before, why(ended.lost)
		line.LedMs = ended.at.Sub(p.participant(before).began).Milliseconds()
	}
	return p.leads(line, leads.term.Token)
}

// leads prints who leads; the token must have grown.
func (p *demoRun) leads(line Line, token int64) error {
	if token <= p.token {
		return fmt.Errorf("%s leads with token %d after one with %d", line.Who, token, p.token)
	}
	p.token, line.Token = token, token
	line.Text = fmt.Sprintf("%s leads now, token %d", line.Who, token)
	if line.Previous != "" {
		line.Text += fmt.Sprintf("; %s led for %d ms", line.Previous, line.LedMs)
	}
	if line.Why != "" {
		line.Text += " (" + line.Why + ")"
	}
	p.Tell(line)
	return nil
}
