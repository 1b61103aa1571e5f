package story

import (
	"sync"
	"time"
)

// resolution is how often beliefs are looked at. What the system adds to it is measured: it is in every span.
const resolution = 500 * time.Microsecond

// span is one stretch of belief. It began after from and by fromBy, and ended after to and by toBy.
type span struct{ from, fromBy, to, toBy time.Duration }

// forever returns a span whose end nobody saw.
func (s span) forever() span {
	s.to, s.toBy = time.Hour, time.Hour
	return s
}

// stopwatch is the one clock of a run. Its zero is the cut, once there was one.
type stopwatch struct{ zero time.Time }

func (s stopwatch) at() time.Duration { return time.Since(s.zero) }

// sampler looks at beliefs until it is stopped.
type sampler struct {
	watch stopwatch
	quit  chan struct{}
	ended chan struct{}

	mu      sync.Mutex
	changed chan struct{}
	tracks  []*track
}

// track is what became of one believer.
type track struct {
	believes func() bool
	holds    bool
	looked   time.Duration // before the last look
	since    span
	spans    []span
}

func newSampler(watch stopwatch) *sampler {
	s := &sampler{watch: watch, quit: make(chan struct{}), ended: make(chan struct{}), changed: make(chan struct{})}
	go s.run()
	return s
}

func (s *sampler) run() {
	defer close(s.ended)
	ticker := time.NewTicker(resolution)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			s.look()
		case <-s.quit:
			return
		}
	}
}

func (s *sampler) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tracks {
		before := s.watch.at()
		now := t.believes()
		after := s.watch.at()
		if now != t.holds {
			close(s.changed)
			s.changed = make(chan struct{})
		}
		switch {
		case now && !t.holds:
			t.since = span{from: t.looked, fromBy: after, to: before}
		case now:
			t.since.to = before
		case t.holds:
			t.since.toBy = after
			t.spans = append(t.spans, t.since)
		}
		t.holds, t.looked = now, before
	}
}

// add begins to look at a believer.
func (s *sampler) add(believes func() bool) *track {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &track{believes: believes, looked: s.watch.at()}
	s.tracks = append(s.tracks, t)
	return t
}

// state is whether a belief is held now, and a channel that is closed when any belief changes.
func (s *sampler) state(t *track) (bool, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return t.holds, s.changed
}

// began is since when a belief is held.
func (s *sampler) began(t *track) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return t.since.fromBy
}

// stop ends the sampling. A belief that is held now is taken to last without an end.
func (s *sampler) stop() {
	close(s.quit)
	<-s.ended
}

// all returns a track's spans, after stop.
func (s *sampler) all(t *track) []span {
	spans := t.spans
	if t.holds {
		spans = append(spans, t.since.forever())
	}
	return spans
}

// overlap returns how long two believed at once: for certain, and at the most.
func overlap(a, b []span) (sure, most time.Duration) {
	for _, x := range a {
		for _, y := range b {
			sure += max(0, min(x.to, y.to)-max(x.fromBy, y.fromBy))
			most += max(0, min(x.toBy, y.toBy)-max(x.from, y.from))
		}
	}
	return sure, most
}
