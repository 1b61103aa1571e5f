// Package reports is a service to be tested: of its instances the one that leads sends
// a numbered report whenever one is due. No number is sent twice, but one may be left
// out. Copy its tests: the page docs/testing.md explains them.
package reports

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/incumbent-go/incumbent"
)

const (
	line   = "/reports/line" // the participants
	number = "/reports/last" // the number of the last report
)

// Service is one instance.
type Service struct {
	Due  <-chan time.Time                            // has a value whenever a report is due
	Send func(ctx context.Context, number int) error // must return when the context ends

	owed bool // a report is due, and not sent yet
}

// Run sends reports whenever this instance leads, until the context ends.
func (s *Service) Run(ctx context.Context, config incumbent.Config) error {
	client, err := incumbent.Open(ctx, config)
	if err != nil {
		return err
	}
	lead := func(l *incumbent.Leadership) error { return s.lead(client, l) }
	selector, err := client.Selector(line, lead, incumbent.SelectorOptions{AutoRequeue: true})
	if err != nil {
		return errors.Join(err, client.Close(ctx))
	}
	return errors.Join(selector.Run(ctx), client.Close(ctx))
}

// lead is one term.
func (s *Service) lead(client *incumbent.Client, l *incumbent.Leadership) error {
	last, version, err := read(l.Context(), client)
	if err != nil {
		return err
	}
	for {
		if !s.owed {
			select {
			case <-s.Due:
				s.owed = true
			case <-l.Context().Done():
				return nil
			}
		}
		// The number is stored first: if the reply is lost, the next term goes on after it.
		last++
		results, err := l.Write(l.Context(), incumbent.SetData(number, []byte(strconv.Itoa(last)), version))
		if err != nil {
			return err
		}
		version = results[0].Stat.Version
		if err := s.Send(l.Context(), last); err != nil {
			return fmt.Errorf("report %d: %w", last, err)
		}
		s.owed = false
	}
}

// read returns the last number and the version of its node, which it creates if there is none.
func read(ctx context.Context, client *incumbent.Client) (last int, version int32, err error) {
	_, err = client.Create(number, []byte("0")).Parents().Do(ctx)
	if refused := (*incumbent.Error)(nil); err != nil && (!errors.As(err, &refused) || refused.Code != "NODEEXISTS") {
		return 0, 0, err
	}
	if err := client.Sync(number).Do(ctx); err != nil { // the server may lag behind
		return 0, 0, err
	}
	node, err := client.Get(number).Do(ctx)
	if err != nil {
		return 0, 0, err
	}
	last, err = strconv.Atoi(string(node.Data))
	return last, node.Stat.Version, err
}
