package play

import (
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/internal/world"
)

// names are those of the participants, in their order.
var names = []string{"alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi", "ivan"}

// Scenario is an ensemble and its settings, by name.
type Scenario struct {
	Name    string   `json:"name"`
	Text    string   `json:"text"`
	Servers []string `json:"servers"`
	Timeout int64    `json:"timeout"` // of sessions, microseconds
	Tick    int64    `json:"tick"`    // microseconds

	timeout, tick time.Duration
	layout        world.Layout
}

// syncLimit is the servers' syncLimit, in ticks.
const syncLimit = 5

var scenarios = []Scenario{
	newScenario("usual", "three servers with a tick of 2 s, and sessions of 6 s", 2*time.Second, 6*time.Second, 0),
	newScenario("quick", "three servers with a tick of 500 ms, and sessions of 2 s", time.Second/2, 2*time.Second, 0),
	newScenario("patient", "three servers with a tick of 2 s, and sessions of 30 s", 2*time.Second, 30*time.Second, 0),
	newScenario("observers", "as usual, with two observers: servers without a vote", 2*time.Second, 6*time.Second, 2),
}

func newScenario(name, text string, tick, timeout time.Duration, observers int) Scenario {
	s := Scenario{Name: name, Text: text, Timeout: timeout.Microseconds(), Tick: tick.Microseconds(), timeout: timeout,
		tick: tick, layout: world.Layout{Observers: observers}}
	for i := range world.Servers + observers {
		s.Servers = append(s.Servers, serverName(i))
	}
	return s
}

// deposed returns for how long a server leads by itself at most.
func (s *Scenario) deposed() time.Duration { return (syncLimit + 2) * s.tick }

// serverName returns the name of a server, as clients have it in their list.
func serverName(i int) string { return string(rune('a' + i)) }

// scenarioNamed returns a scenario, nil for none.
func scenarioNamed(name string) *Scenario {
	i := slices.IndexFunc(scenarios, func(s Scenario) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &scenarios[i]
}

// path is the path of what the participants share.
const path = "/jobs"
