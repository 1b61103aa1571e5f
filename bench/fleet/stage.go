package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// between is the time between two looks.
const between = 100 * time.Millisecond

// stage is one scenario: its servers, its processes of clients, and what was measured of each step.
type stage struct {
	options
	*ensemble
	fleet fleet
	title string
	steps []step
}

// step is what one step took.
type step struct {
	name    string
	took    time.Duration
	clients Look // traffic and CPU time of the step; the state and memory at its end
	server  Server
}

// launch starts the processes and opens their sessions.
func (s *stage) launch(context.Context) error {
	each := s.sessions / s.processes
	for i := range s.processes {
		p, err := startProcess(i*each, each, s.within)
		if err != nil {
			return err
		}
		s.fleet = append(s.fleet, p)
	}
	return nil
}

func (s *stage) open(p *process) Command {
	return Command{Do: "open", Servers: strings.Join(s.Addrs, ","), Sessions: p.n}
}

// measure runs a step: it begins, and ends when the clients are as they should be. The step ends with an error if they
// are not in time.
func (s *stage) measure(ctx context.Context, name string, begin func() error, done func(Look) bool) error {
	ctx, cancel := context.WithTimeout(ctx, s.within)
	defer cancel()
	before, err := s.fleet.look()
	if err != nil {
		return err
	}
	server, start := s.look(), time.Now()
	if err := begin(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for {
		now, err := s.fleet.look()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if done(now) {
			s.note(name, time.Since(start), before, now, server)
			return nil
		}
		select {
		case <-time.After(between):
		case <-ctx.Done():
			return fmt.Errorf("%s: %w; %d connected, %d waiting, %d leading", name, ctx.Err(), now.Connected,
				now.Waiting, now.Leading)
		}
	}
}

func (s *stage) note(name string, took time.Duration, before, now Look, server Server) {
	at := s.look()
	at.CPU -= server.CPU
	now.Traffic, now.CPU = now.Traffic.since(before.Traffic), now.CPU-before.CPU
	s.steps = append(s.steps, step{name, took, now, at})
	fmt.Fprintf(os.Stderr, "%s: %s took %v\n", s.title, name, took.Round(time.Millisecond))
}

// rest measures what it costs when nothing happens.
func (s *stage) pause(ctx context.Context) error {
	var end time.Time
	return s.measure(ctx, "rest", func() error {
		end = time.Now().Add(s.rest)
		return nil
	}, func(Look) bool { return time.Now().After(end) })
}

// releaseLeader closes the latch of the one process that leads.
func (s *stage) releaseLeader() error {
	for _, p := range s.fleet {
		one := fleet{p}
		l, err := one.look()
		if err != nil {
			return err
		}
		if l.Leading > 0 {
			_, err := one.do(func(*process) Command { return Command{Do: "release"} })
			return err
		}
	}
	return errors.New("nobody leads")
}

// killHalf kills the first half of the processes. What they had counted is gone with them, so the rest begins from its
// own.
func (s *stage) killHalf() fleet {
	half := s.fleet[:len(s.fleet)/2]
	s.fleet = s.fleet[len(s.fleet)/2:]
	return half
}
