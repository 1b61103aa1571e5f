package sim

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/internal/world"
)

// Plan is what a seed makes of a world before the world begins.
type Plan struct {
	Seed      int64
	Clients   int
	Lines     int
	OwnDirs   []string // the own directories of recipes that are used
	Tick      time.Duration
	SyncLimit int
	Timeout   time.Duration
	RideOut   bool
	OneFlight bool          // places may enrol in one flight, as they do unless Config.Disable says otherwise
	Layout    world.Layout  // of the ensemble, in worlds of their own
	Length    time.Duration // of the first phase
	Retry     string        // the retry policy of the handles
	Faults    []Rate
	Strike    Strike   // at one write of one process
	Without   []string // faults that the shrinker has taken out
}

// Rate is a fault and its average distance to the next.
type Rate struct {
	Fault string
	Every time.Duration
}

// NewPlan returns the plan of a seed.
func NewPlan(seed int64) Plan {
	d := rand.New(rand.NewPCG(uint64(seed), 1))
	p := Plan{Seed: seed, Clients: 2 + d.IntN(4), Lines: 1, SyncLimit: 2 + d.IntN(4)}
	if world.OneIn(d, 8) {
		p.Clients = 2 + d.IntN(6)
	}
	if world.OneIn(d, 3) {
		p.Lines = 1 + d.IntN(3)
	}
	p.Tick = []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second}[d.IntN(3)]
	ticks := []int{2, 2, 3, 4, 5, 8, 10, 16, 20}[d.IntN(9)]
	p.Timeout = time.Duration(ticks) * p.Tick
	p.RideOut = world.OneIn(d, 3)
	p.Length = p.Timeout * time.Duration(4+d.IntN(5))
	p.Retry = "bounded/-1/50ms/2s"
	p.OneFlight = !world.OneIn(world.NewDice(seed, "one flight"), 16)
	p.drawOwnDirs(ownDirs())
	for _, f := range faults {
		d := world.NewDice(seed, f.name) // dice of its own: one more fault does not move those of the others
		if !world.OneIn(d, f.odds) {
			continue
		}
		// From three in a world to one in three worlds.
		p.Faults = append(p.Faults, Rate{f.name, p.Length / time.Duration(1+d.IntN(5))})
	}
	return p
}

// drawOwnDirs draws which own directories are used: none in half of the worlds, else
// one or two. Then one shared line is enough.
func (p *Plan) drawOwnDirs(dirs []string) {
	d := world.NewDice(p.Seed, "homes")
	if len(dirs) == 0 || world.OneIn(d, 2) {
		return
	}
	for range 1 + d.IntN(4)/3 {
		if dir := dirs[d.IntN(len(dirs))]; !slices.Contains(p.OwnDirs, dir) {
			p.OwnDirs = append(p.OwnDirs, dir)
		}
	}
	p.Lines = 1
}

// inDir shapes worlds in which an own directory is used.
func inDir(dir string) func(*Plan) {
	return func(p *Plan) { p.OwnDirs, p.Lines = []string{dir}, 1 }
}

// often adds faults to a plan, each about so many times in it.
func (p *Plan) often(times int, faults ...string) {
	for _, name := range faults {
		p.Faults = slices.DeleteFunc(p.Faults, func(r Rate) bool { return r.Fault == name })
		p.Faults = append(p.Faults, Rate{name, p.Length / time.Duration(times)})
	}
}

// has reports whether a fault belongs to the plan.
func (p Plan) has(fault string) bool {
	for _, out := range p.Without {
		if out == fault {
			return false
		}
	}
	for _, r := range p.Faults {
		if r.Fault == fault {
			return true
		}
	}
	return false
}

// String returns the plan on one line.
func (p Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %d clients, %d lines and %q, T %s, tick %s, syncLimit %d, rideOut %t, %s of faults:",
		p.Seed, p.Clients, p.Lines, p.OwnDirs, p.Timeout, p.Tick, p.SyncLimit, p.RideOut, p.Length)
	if !p.OneFlight {
		b.WriteString(" nothing in one flight,")
	}
	if !reflect.ValueOf(p.Layout).IsZero() {
		fmt.Fprintf(&b, " %+v", p.Layout)
	}
	for _, r := range p.Faults {
		if p.has(r.Fault) {
			fmt.Fprintf(&b, " %s/%s", r.Fault, r.Every.Round(time.Millisecond))
		}
	}
	return b.String()
}

// healBound returns how long a healed world may take until it has its leaders: a
// session that died with the faults has to time out at a new leader of the ensemble, and
// every back-off has to end.
func (p Plan) healBound() time.Duration { return 2*p.Timeout + 4*p.longestTick() + 12*time.Second }

// longestTick returns the servers' tick, or the one that clients take for it, if that is longer.
func (p Plan) longestTick() time.Duration { return max(p.Tick, p.Layout.Tick) }
