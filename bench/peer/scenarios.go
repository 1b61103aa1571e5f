package peer

import (
	"errors"
	"fmt"
	"time"
)

func (s *Stage) cycle(c Command) (*Run, error) {
	if err := s.first.Directory(c.Path); err != nil {
		return nil, err
	}
	place, err := s.first.Place(c.Recipe, c.Path)
	if err != nil {
		return nil, err
	}
	play := func() (map[string][]int64, error) {
		var acquired, released, whole []int64
		for range c.N {
			begin := time.Now()
			if err := place.Acquire(); err != nil {
				return nil, err
			}
			leads := time.Now()
			if err := place.Release(); err != nil {
				return nil, err
			}
			end := time.Now()
			acquired = append(acquired, leads.Sub(begin).Nanoseconds())
			released = append(released, end.Sub(leads).Nanoseconds())
			whole = append(whole, end.Sub(begin).Nanoseconds())
		}
		return map[string][]int64{Acquired: acquired, Released: released, Whole: whole}, nil
	}
	return &Run{play, func() error { return nil }}, nil
}

// grant is the moment at which a participant that waited began to lead.
type grant struct {
	at  time.Time
	err error
}

// wait acquires in a goroutine.
func wait(p Place) chan grant {
	granted := make(chan grant, 1)
	go func() {
		err := p.Acquire()
		granted <- grant{time.Now(), err}
	}()
	return granted
}

func (s *Stage) handOver(c Command) (*Run, error) {
	leaders, waiters := make([]Place, c.N), make([]Place, c.N)
	grants := make([]chan grant, c.N)
	for i := range c.N {
		path := fmt.Sprintf("%s/%d", c.Path, i)
		err := s.first.Directory(path)
		if err == nil {
			leaders[i], err = s.first.Place(c.Recipe, path)
		}
		if err == nil {
			waiters[i], err = s.second.Place(c.Recipe, path)
		}
		if err == nil {
			err = leaders[i].Acquire()
		}
		if err != nil {
			return nil, err
		}
		grants[i] = wait(waiters[i])
		if err := awaitChildren(s.second, path, 2); err != nil {
			return nil, err
		}
	}
	time.Sleep(s.settle)
	play := func() (map[string][]int64, error) {
		var handed []int64
		for i := range c.N {
			begin := time.Now()
			if err := leaders[i].Release(); err != nil {
				return nil, err
			}
			got := <-grants[i]
			if got.err != nil {
				return nil, got.err
			}
			if got.at.Before(begin) {
				return nil, fmt.Errorf("peer: two lead at %s/%d", c.Path, i)
			}
			handed = append(handed, got.at.Sub(begin).Nanoseconds())
		}
		return map[string][]int64{Handed: handed}, nil
	}
	clean := func() error { return each(c.N, c.N, func(i int) error { return waiters[i].Release() }) }
	return &Run{play, clean}, nil
}

// lineSessions returns who stands in a line: the head's session first.
func (s *Stage) lineSessions(c Command) (sessions []Session, end func(), err error) {
	sessions = make([]Session, c.N+1)
	if c.Scenario == Line {
		for i := range sessions {
			sessions[i] = s.first
		}
		return sessions, func() {}, nil
	}
	end = func() {
		each(len(sessions), workers, func(i int) error {
			if sessions[i] != nil {
				sessions[i].Close()
			}
			return nil
		})
	}
	err = each(len(sessions), workers, func(i int) (err error) {
		sessions[i], err = s.open()
		return err
	})
	return sessions, end, err
}

func (s *Stage) line(c Command) (*Run, error) {
	if err := s.first.Directory(c.Path); err != nil {
		return nil, err
	}
	sessions, end, err := s.lineSessions(c)
	if err != nil {
		return nil, err
	}
	places := make([]Place, len(sessions))
	for i := range places {
		if places[i], err = sessions[i].Place(c.Recipe, c.Path); err != nil {
			return nil, err
		}
	}
	if err := places[0].Acquire(); err != nil {
		return nil, err
	}
	grants := make(chan grant, c.N)
	for _, p := range places[1:] {
		go func() {
			err := p.Acquire()
			at := time.Now()
			grants <- grant{at, errors.Join(err, p.Release())}
		}()
	}
	if err := awaitChildren(s.second, c.Path, len(places)); err != nil {
		return nil, err
	}
	time.Sleep(s.settle)
	play := func() (map[string][]int64, error) {
		begin := time.Now()
		if err := places[0].Release(); err != nil {
			return nil, err
		}
		last := begin
		for range c.N {
			got := <-grants
			if got.err != nil {
				return nil, got.err
			}
			if got.at.After(last) {
				last = got.at
			}
		}
		return map[string][]int64{Whole: {last.Sub(begin).Nanoseconds()}}, nil
	}
	return &Run{play, func() error { end(); return nil }}, nil
}

func (s *Stage) many(c Command) (*Run, error) {
	if err := s.first.Directory(c.Path); err != nil {
		return nil, err
	}
	places := make([]Place, c.N)
	err := each(c.N, workers, func(i int) (err error) {
		path := fmt.Sprintf("%s/%d", c.Path, i)
		if c.Scenario != Fresh {
			if err := s.second.Directory(path); err != nil {
				return err
			}
		}
		places[i], err = s.first.Place(c.Recipe, path)
		return err
	})
	if err != nil {
		return nil, err
	}
	acquire := func() error { return each(c.N, c.N, func(i int) error { return places[i].Acquire() }) }
	release := func() error { return each(c.N, c.N, func(i int) error { return places[i].Release() }) }
	if c.Scenario != Release {
		return &Run{timed(acquire), release}, nil
	}
	if err := acquire(); err != nil {
		return nil, err
	}
	return &Run{timed(release), func() error { return nil }}, nil
}

// timed returns f as a run of one sample.
func timed(f func() error) func() (map[string][]int64, error) {
	return func() (map[string][]int64, error) {
		begin := time.Now()
		err := f()
		return map[string][]int64{Whole: {time.Since(begin).Nanoseconds()}}, err
	}
}

func (s *Stage) clients(c Command) (*Run, error) {
	if err := s.first.Directory(c.Path); err != nil {
		return nil, err
	}
	sessions, places := make([]Session, c.N), make([]Place, c.N)
	open := func(i int) (err error) {
		path := fmt.Sprintf("%s/%d", c.Path, i)
		if sessions[i], err = s.open(); err != nil {
			return err
		}
		if err := sessions[i].Directory(path); err != nil {
			return err
		}
		if places[i], err = sessions[i].Place(c.Recipe, path); err != nil {
			return err
		}
		return places[i].Acquire()
	}
	play := timed(func() error { return each(c.N, workers, open) })
	clean := func() error {
		return each(c.N, workers, func(i int) error {
			err := places[i].Release() // first: a client's end may wait for it
			sessions[i].Close()
			return err
		})
	}
	return &Run{play, clean}, nil
}
