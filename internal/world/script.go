package world

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Script has all that a world depends on: the same script gives the same records, byte
// for byte, if the observer does the same.
type Script struct {
	Seed      int64         `json:"seed"`
	Tick      time.Duration `json:"tick"`      // the servers' tickTime
	SyncLimit int           `json:"syncLimit"` // and syncLimit, in ticks
	Timeout   time.Duration `json:"timeout"`   // of sessions
	RideOut   bool          `json:"rideOut,omitempty"`
	// all clients have one clock, which shows Epoch when the world begins
	OneClock bool      `json:"oneClock,omitempty"`
	Layout   Layout    `json:"layout,omitzero"`   // of the ensemble, if it is a special one
	Clients  []Program `json:"clients,omitempty"` // the processes, numbered from 0 on
	Actions  []Action  `json:"actions,omitempty"` // those of one moment in their order
}

// Bounds of a script. A world without an end would never end.
const (
	MaxClients = 100
	MaxActions = 1000
	MaxTime    = 24 * time.Hour
)

// Epoch is what a clock shows when the world begins, if all clients have that clock.
const Epoch = time.Minute

// New returns a world: an ensemble of three servers, one of which leads, and the clients
// of the script, with their handles open. Its error says what a script may not have. A nil
// observer is Idle.
func New(s Script, o Observer) (*World, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if o == nil {
		o = Idle{}
	}
	s.Clients, s.Actions = slices.Clone(s.Clients), slices.Clone(s.Actions)
	w := &World{script: s, count: MaxActions, dice: map[string]*rand.Rand{}, observer: o}
	w.ens = newEnsemble(w)
	for _, p := range s.Clients {
		w.addProgram(p)
	}
	for i, d := range s.Actions {
		w.schedule(i, d)
	}
	return w, nil
}

// Script returns the script, with the actions that were added.
func (w *World) Script() Script {
	s := w.script
	s.Clients, s.Actions = slices.Clone(s.Clients), slices.Clone(s.Actions)
	return s
}

func (s Script) check() error {
	switch {
	case s.Tick < time.Millisecond || s.Tick > time.Minute:
		return fmt.Errorf("world: a tick of %s: want 1ms to 1m", s.Tick)
	case s.SyncLimit < 1 || s.SyncLimit > 100:
		return fmt.Errorf("world: a syncLimit of %d: want 1 to 100 ticks", s.SyncLimit)
	case len(s.Clients) > MaxClients:
		return fmt.Errorf("world: %d clients: want at most %d", len(s.Clients), MaxClients)
	case len(s.Actions) > MaxActions:
		return fmt.Errorf("world: %d actions: want at most %d", len(s.Actions), MaxActions)
	}
	if err := s.checkTimeouts(); err != nil {
		return err
	}
	for i, p := range s.Clients {
		if err := p.check(); err != nil {
			return fmt.Errorf("world: client %d: %w", i, err)
		}
	}
	for i, d := range s.Actions {
		if err := s.checkAction(d); err != nil {
			return fmt.Errorf("world: action %d: %w", i, err)
		}
	}
	return nil
}

// checkAction returns why an action can never be done.
func (s Script) checkAction(d Action) error {
	kind, known := actions[d.Do]
	all := len(s.Clients)
	if kind.to == toServer {
		all = Servers + s.Layout.Observers
	}
	switch {
	case !known:
		return fmt.Errorf("there is no action %.40q", d.Do)
	case d.At < 0 || d.At > int64(MaxTime):
		return fmt.Errorf("%q at %d ns: want 0 to %d, a day", d.Do, d.At, int64(MaxTime))
	case kind.to != toAll && (d.Who < 0 || d.Who >= all):
		return fmt.Errorf("%q of %s %d: there are %d, from 0 on", d.Do, kind.to, d.Who, all)
	case kind.lasts && (d.For <= 0 || d.For > MaxTime):
		return fmt.Errorf("%q for %s: want a duration of at most a day", d.Do, d.For)
	}
	return nil
}

// Add adds an action to a world that runs. It refuses an action at or before Now: the
// past needs a world of its own, made from the script.
func (w *World) Add(d Action) error {
	s := w.script
	if d.At <= w.now {
		return fmt.Errorf("world: %q at %d ns: the world is at %d already; make one from the script", d.Do, d.At, w.now)
	}
	if len(s.Actions) >= MaxActions {
		return errTooMany
	}
	if err := s.checkAction(d); err != nil {
		return fmt.Errorf("world: %w", err)
	}
	w.script.Actions = append(w.script.Actions, d)
	w.schedule(len(s.Actions), d)
	return nil
}

var errTooMany = errors.New("world: too many actions: want at most 1000")
