package story

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
)

func TestAnInterruptedPlayIsNoSuccess(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), repeat.Enough)
	defer cancel()
	changes := 0
	err := Run(ctx, Options{Log: &bytes.Buffer{}, Tell: func(l Line) {
		if l.Event == "leads" {
			changes++
			cancel()
		}
	}})
	if err == nil || changes != 1 {
		t.Errorf("%d changes, error %v", changes, err)
	}
}

// hear returns a run that gets these changes and no others.
func hear(changes ...change) *demoRun {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p := &demoRun{ctx: ctx, changes: make(chan change, len(changes)),
		participants: []*participant{{name: "a"}, {name: "b"}}}
	p.Tell = func(Line) {}
	for _, c := range changes {
		p.changes <- c
	}
	return p
}

func TestWhatIsNotAsToldIsAnError(t *testing.T) {
	lost := errors.New("lost")
	for want, p := range map[string]*demoRun{
		"b leads, but it is the turn of a":     hear(change{who: "b"}),
		"b says that it does not lead any mor": hear(change{who: "b", lost: lost}),
		"with token 3 after one with 3": func() *demoRun {
			p := hear(change{who: "a", term: incumbent.Term{Token: 3}})
			p.token = 3
			return p
		}(),
	} {
		// The context has ended, but a change that came before may still be taken first.
		err := p.handOver("a", "")
		for err != nil && errors.Is(err, context.Canceled) {
			err = p.handOver("a", "")
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
