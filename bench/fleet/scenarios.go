package main

import (
	"context"
	"maps"
	"slices"
)

// scenarios by name. Each has the servers for itself.
var scenarios = map[string]func(context.Context, *stage) error{
	"lines": manyLines,
	"line":  oneLine,
	"pairs": pairs,
}

func scenarioNames() []string { return slices.Sorted(maps.Keys(scenarios)) }

// manyLines has every session lead in a line of its own. They start, rest, and lose all servers for a moment.
func manyLines(ctx context.Context, s *stage) error {
	all := func(l Look) bool { return l.Leading == s.sessions }
	if err := s.connect(ctx); err != nil {
		return err
	}
	if err := s.measure(ctx, "all start", s.join("/fleet/%05d", 0), all); err != nil {
		return err
	}
	if err := s.pause(ctx); err != nil {
		return err
	}
	return s.measure(ctx, "all servers restart", func() error { return s.restart(ctx) }, all)
}

// pairs has two sessions in each line: one process's lead, another's are next. Then the leaders' processes are killed.
func pairs(ctx context.Context, s *stage) error {
	half := s.sessions / 2
	if err := s.connect(ctx); err != nil {
		return err
	}
	leaders, standby := s.fleet[:len(s.fleet)/2], s.fleet[len(s.fleet)/2:]
	join := func(f fleet, first int) func() error {
		return func() error {
			_, err := f.do(func(p *process) Command {
				return Command{Do: "join", Pattern: "/fleet/%05d", First: p.first - first}
			})
			return err
		}
	}
	halfLead := func(l Look) bool { return l.Leading == half }
	if err := s.measure(ctx, "leaders start", join(leaders, 0), halfLead); err != nil {
		return err
	}
	halfWait := func(l Look) bool { return l.Leading == half && l.Waiting == half }
	if err := s.measure(ctx, "standbys start", join(standby, half), halfWait); err != nil {
		return err
	}
	if err := s.pause(ctx); err != nil {
		return err
	}
	dead := s.killHalf()
	return s.measure(ctx, "the leaders' processes are killed", func() error { dead.kill(); return nil }, halfLead)
}

// oneLine has all sessions in one line. Its leader leaves, all servers restart, and half of the processes are killed at
// once, whose sessions are all over the line.
func oneLine(ctx context.Context, s *stage) error {
	full := func(n int) func(Look) bool {
		return func(l Look) bool { return l.Leading == 1 && l.Leading+l.Waiting == n }
	}
	if err := s.connect(ctx); err != nil {
		return err
	}
	if err := s.measure(ctx, "all start", s.join("/fleet/line", 0), full(s.sessions)); err != nil {
		return err
	}
	if err := s.pause(ctx); err != nil {
		return err
	}
	if err := s.measure(ctx, "the leader leaves", s.releaseLeader, full(s.sessions-1)); err != nil {
		return err
	}
	restart := func() error { return s.restart(ctx) }
	if err := s.measure(ctx, "all servers restart", restart, full(s.sessions-1)); err != nil {
		return err
	}
	dead := s.killHalf()
	left, err := s.fleet.look()
	if err != nil {
		return err
	}
	n := left.Leading + left.Waiting
	return s.measure(ctx, "half of the sessions are killed", func() error { dead.kill(); return nil },
		func(l Look) bool { return full(n)(l) && s.look().Sessions <= int64(s.sessions/2) })
}

// connect opens all sessions.
func (s *stage) connect(ctx context.Context) error {
	if err := s.launch(ctx); err != nil {
		return err
	}
	return s.measure(ctx, "all connect", func() error {
		_, err := s.fleet.do(s.open)
		return err
	}, func(l Look) bool { return l.Connected == s.sessions })
}

// join starts a latch in every session.
func (s *stage) join(pattern string, first int) func() error {
	return func() error {
		_, err := s.fleet.do(func(p *process) Command {
			return Command{Do: "join", Pattern: pattern, First: p.first - first}
		})
		return err
	}
}
