package story

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/machines"
)

// heldTurn is one term of a selector, which lasts until over is closed.
type heldTurn struct {
	who   string
	token int64
	over  chan struct{}
}

const (
	selectors = 5
	rounds    = 3
	turnTime  = 120 * time.Millisecond // a term that ends immediately is followed by a pause
)

func (p *demoRun) rounds() error {
	const dir = "/demo/selector"
	p.chapter("4. Five selectors queue at %s, and again after every term: three rounds.", dir)
	a, err := p.open("selectors")
	if err != nil {
		return err
	}
	turns := make(chan heldTurn)
	for i := range selectors {
		name := fmt.Sprintf("s%d", i+1)
		s, err := a.client.Selector(dir, turn(name, turns), incumbent.SelectorOptions{
			ID: name, AutoRequeue: true,
		})
		if err == nil {
			err = s.Start()
		}
		if err == nil {
			err = p.queued(dir, i+1)
		}
		if err != nil {
			return err
		}
	}
	before, began := "", time.Time{}
	for i := range selectors * rounds {
		want := fmt.Sprintf("s%d", i%selectors+1)
		t, err := next(p.ctx, turns)
		if err != nil {
			return fmt.Errorf("waiting for %s to lead: %w", want, err)
		}
		if t.who != want {
			return fmt.Errorf("%s leads, but it is the turn of %s", t.who, want)
		}
		line := Line{Event: "leads", Who: t.who, Round: i/selectors + 1}
		if now := time.Now(); before != "" {
			line.Previous, line.LedMs = before, now.Sub(began).Milliseconds()
		}
		before, began = t.who, time.Now()
		if err := p.leads(line, t.token); err != nil {
			return err
		}
		if err := p.queued(dir, selectors); err != nil { // the one before is in line again
			return err
		}
		p.work(turnTime)
		close(t.over)
		if i%selectors == selectors-1 {
			p.Tell(Line{Event: "round", Round: i/selectors + 1,
				Text: fmt.Sprintf("round %d of %d: each led once, in queue order", i/selectors+1, rounds)})
		}
	}
	return nil
}

func next(ctx context.Context, turns chan heldTurn) (heldTurn, error) {
	select {
	case t := <-turns:
		return t, nil
	case <-ctx.Done():
		return heldTurn{}, context.Cause(ctx)
	}
}

// turn returns a selector's function: it leads until its turn is over.
func turn(name string, turns chan heldTurn) incumbent.Work {
	return func(l *incumbent.Leadership) error {
		t := heldTurn{name, l.Token(), make(chan struct{})}
		select {
		case turns <- t:
		case <-l.Context().Done():
			return nil
		}
		select {
		case <-t.over:
			return nil
		case <-l.Context().Done():
			return context.Cause(l.Context())
		}
	}
}

// replay closes every client and replays what each recorded.
func (p *demoRun) replay() error {
	p.chapter("5. What every client recorded is fed to fresh state machines.")
	if err := p.closeAll(); err != nil {
		return fmt.Errorf("the clients close: %w", err)
	}
	var sum engine.Replayed
	began := time.Now()
	for _, a := range p.participants {
		one, err := engine.Replay(bytes.NewReader(a.log.Bytes()), 0, machines.Recipes()...)
		if err != nil {
			return fmt.Errorf("the replay of %s: %w", a.name, err)
		}
		if one.Torn || one.Records == 0 {
			return fmt.Errorf("the log of %s is not whole: %d records", a.name, one.Records)
		}
		sum.Records += one.Records
		sum.Inputs += one.Inputs
	}
	rate := int64(float64(sum.Records) / time.Since(began).Seconds())
	p.Tell(Line{Event: "replayed", Records: sum.Records, Inputs: sum.Inputs, Rate: rate,
		Text: fmt.Sprintf("%d logs, %d records from %d inputs: the same, byte for byte (%d records/s)",
			len(p.participants), sum.Records, sum.Inputs, rate)})
	return nil
}
