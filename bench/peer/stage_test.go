package peer

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// world is lines in memory: who is first in a line, leads.
type world struct {
	mu    sync.Mutex
	lines map[string][]*place
	leads int            // how many lead now
	most  map[string]int // the most that ever stood in each line
	open  int            // sessions
	fail  string         // a recipe that fails
}

type fakeSession struct{ w *world }

type place struct {
	w      *world
	path   string
	turn   chan struct{}
	broken bool
}

func (w *world) session() (Session, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open++
	return fakeSession{w}, nil
}

func (s fakeSession) Directory(string) error { return nil }

func (s fakeSession) Children(path string) (int, error) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	return len(s.w.lines[path]), nil
}

func (s fakeSession) Place(recipe, path string) (Place, error) {
	if recipe == "none" {
		return nil, &UnsupportedError{Recipe: recipe}
	}
	return &place{w: s.w, path: path, broken: recipe == s.w.fail}, nil
}

func (s fakeSession) Close() {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.open--
}

func (p *place) Acquire() error {
	if p.broken {
		return errors.New("no quorum")
	}
	p.w.mu.Lock()
	turn := make(chan struct{})
	p.turn = turn
	line := append(p.w.lines[p.path], p)
	p.w.lines[p.path] = line
	p.w.most[p.path] = max(p.w.most[p.path], len(line))
	if len(line) == 1 {
		close(p.turn)
	}
	p.w.mu.Unlock()
	<-turn
	p.w.mu.Lock()
	p.w.leads++
	p.w.mu.Unlock()
	return nil
}

func (p *place) Release() error {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	line := p.w.lines[p.path]
	if len(line) == 0 || line[0] != p {
		return fmt.Errorf("%s is released by one that does not lead", p.path)
	}
	p.w.leads--
	p.w.lines[p.path] = line[1:]
	if len(line) > 1 {
		close(line[1].turn)
	}
	return nil
}

func newStage(t *testing.T) (*Stage, *world) {
	t.Helper()
	w := &world{lines: map[string][]*place{}, most: map[string]int{}}
	s, err := NewStage(w.session)
	if err != nil {
		t.Fatal(err)
	}
	s.settle = 0 // lines in memory have no watches to wait for
	return s, w
}

// Each scenario has the participants that it says, gives the samples that it says, and leaves nobody behind.
func TestScenariosAreWhatTheySay(t *testing.T) {
	const n = 5
	for scenario, c := range map[string]struct {
		samples  map[string]int
		atPath   int // the most in the line at the path itself
		below    int // and in each line below it
		sessions int // while it is prepared
		leads    int // after go
	}{
		Cycle:    {map[string]int{Acquired: n, Released: n, Whole: n}, 1, 0, 2, 0},
		HandOver: {map[string]int{Handed: n}, 0, 2, 2, n},
		Line:     {map[string]int{Whole: 1}, n + 1, 0, 2, 0},
		LineOwn:  {map[string]int{Whole: 1}, n + 1, 0, 2 + n + 1, 0},
		Fresh:    {map[string]int{Whole: 1}, 0, 1, 2, n},
		Existing: {map[string]int{Whole: 1}, 0, 1, 2, n},
		Release:  {map[string]int{Whole: 1}, 0, 1, 2, 0},
		Clients:  {map[string]int{Whole: 1}, 0, 1, 2, n},
	} {
		t.Run(scenario, func(t *testing.T) {
			stage, w := newStage(t)
			run, err := stage.Prepare(Command{Prepare, scenario, "mutex", "/p", n})
			if err != nil {
				t.Fatal(err)
			}
			if w.open != c.sessions {
				t.Errorf("%d sessions are open, want %d", w.open, c.sessions)
			}
			samples, err := run.Go()
			if err != nil {
				t.Fatal(err)
			}
			for what, want := range c.samples {
				if len(samples[what]) != want || slices.Min(samples[what]) < 0 {
					t.Errorf("%s has the samples %v, want %d", what, samples[what], want)
				}
			}
			if len(samples) != len(c.samples) || w.leads != c.leads {
				t.Errorf("samples of %d figures, and %d lead; want %d and %d", len(samples), w.leads,
					len(c.samples), c.leads)
			}
			if w.most["/p"] != c.atPath || w.most["/p/0"] != c.below || w.most["/p/4"] != c.below ||
				w.most["/p/5"] != 0 {
				t.Errorf("in line were %v, want %d at the path and %d below it", w.most, c.atPath, c.below)
			}
			if err := run.Clean(); err != nil {
				t.Error(err)
			}
			stage.Close()
			if w.open != 0 || w.leads != 0 {
				t.Errorf("%d sessions are left, and %d lead", w.open, w.leads)
			}
		})
	}
}

func TestAScenarioThatFailsSaysSo(t *testing.T) {
	stage, w := newStage(t)
	var unsupported *UnsupportedError
	if _, err := stage.Prepare(Command{Prepare, "dance", "mutex", "/p", 1}); !errors.As(err, &unsupported) {
		t.Errorf("a scenario that nobody knows: %v", err)
	}
	if _, err := stage.Prepare(Command{Prepare, Cycle, "none", "/p", 1}); !errors.As(err, &unsupported) {
		t.Errorf("a recipe that nobody knows: %v", err)
	}
	w.fail = "mutex"
	run, err := stage.Prepare(Command{Prepare, Fresh, "mutex", "/p", 2})
	if err == nil {
		_, err = run.Go()
	}
	if err == nil {
		t.Error("participants that could not acquire were measured")
	}
}

func TestAHandOverToOneThatLedAlreadyIsNoSample(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		stage, w := newStage(t)
		run, err := stage.Prepare(Command{Prepare, HandOver, "mutex", "/p", 1})
		if err != nil {
			t.Fatal(err)
		}
		w.mu.Lock() // a server that lets the second one lead, too
		second := w.lines["/p/0"][1]
		close(second.turn)
		second.turn = make(chan struct{})
		w.mu.Unlock()
		virtual.Sleep(time.Second)
		if samples, err := run.Go(); err == nil {
			t.Errorf("%v was measured", samples)
		}
	})
}
