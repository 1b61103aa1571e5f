package peer

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// The scenarios. bench/results.md says in a sentence what each measures.
const (
	Cycle    = "cycle"     // one participant starts, leads and releases, N times
	HandOver = "hand-over" // in N lines, a leader of one session releases, and a participant of another leads
	Line     = "line"      // N participants of one session wait in one line, and each releases as soon as it leads
	LineOwn  = "line-own"  // the same, and each has a session of its own
	Fresh    = "fresh"     // N participants start at once, each on a path that does not exist
	Existing = "existing"  // the same, on paths that exist
	Release  = "release"   // N leaders of one session release at once
	Clients  = "clients"   // N clients connect, and each leads on a path of its own
)

// The names of samples. All are times, in nanoseconds.
const (
	Acquired = "acquire" // from the start until the participant leads
	Released = "release" // from the call that releases until it returns
	Whole    = "whole"   // from the beginning to the end of a scenario, or of one cycle
	Handed   = "handed"  // from the call that releases until the next participant leads
)

const (
	settle  = 250 * time.Millisecond // after the last participant has queued, until its watch is certainly set
	looking = 2 * time.Millisecond   // between two looks at how many are in line
	queued  = 2 * time.Minute        // within which all have queued
	workers = 64                     // at most so many directories are created, or clients opened, at a time
)

// Session is one client of a library, with a session of its own.
type Session interface {
	Directory(path string) error              // creates a directory and its parents, if they are missing
	Children(path string) (int, error)        // how many nodes stand below path
	Place(recipe, path string) (Place, error) // a participant; an *UnsupportedError if there is no such recipe
	Close()                                   // ends the session
}

// Place is a participant of a line. One goroutine uses it at a time.
type Place interface {
	Acquire() error // queues, and returns when the participant leads or holds
	Release() error // returns when the library says that this is over
}

// Stage plays scenarios on a library. Two sessions exist from the beginning to the end.
type Stage struct {
	open   func() (Session, error)
	first  Session
	second Session
	settle time.Duration
}

// NewStage opens two sessions.
func NewStage(open func() (Session, error)) (*Stage, error) {
	first, err := open()
	if err != nil {
		return nil, err
	}
	second, err := open()
	if err != nil {
		first.Close()
		return nil, err
	}
	return &Stage{open, first, second, settle}, nil
}

// Close ends the sessions.
func (s *Stage) Close() {
	s.first.Close()
	s.second.Close()
}

// Prepare builds what a scenario needs.
func (s *Stage) Prepare(c Command) (*Run, error) {
	switch c.Scenario {
	case Cycle:
		return s.cycle(c)
	case HandOver:
		return s.handOver(c)
	case Line, LineOwn:
		return s.line(c)
	case Fresh, Existing, Release:
		return s.many(c)
	case Clients:
		return s.clients(c)
	}
	return nil, &UnsupportedError{c.Scenario, c.Recipe}
}

// awaitChildren returns when so many nodes stand below path.
func awaitChildren(s Session, path string, want int) error {
	end := time.Now().Add(queued)
	for {
		n, err := s.Children(path)
		switch {
		case err != nil:
			return err
		case n == want:
			return nil
		case time.Now().After(end):
			return fmt.Errorf("peer: %d of %d are in line at %s after %v", n, want, path, queued)
		}
		time.Sleep(looking)
	}
}

// each calls f for 0 to n-1, at most so many at a time, and returns the errors.
func each(n, atOnce int, f func(int) error) error {
	errs := make([]error, n)
	room := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for i := range n {
		room <- struct{}{}
		all.Go(func() {
			errs[i] = f(i)
			<-room
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
