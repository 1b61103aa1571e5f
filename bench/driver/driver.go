// Package driver has programs play scenarios in rounds: in each round every program has its turn, and the order changes
// from round to round. It notes for each round which share of the machine other processes took.
package driver

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"time"

	"github.com/incumbent-go/incumbent/bench/machine"
	"github.com/incumbent-go/incumbent/bench/peer"
)

// A round is quiet if other processes took at most the share Quiet of the machine. A figure is ranked if Enough rounds
// were quiet, and only those count then.
const (
	Quiet  = 0.15
	Enough = 8
)

const (
	answerWithin = 3 * time.Minute  // a program has to answer: only a bound for one that hangs
	quitWithin   = 20 * time.Second // after the end of its input, until it is killed
)

// Entrant is a recipe of a program.
type Entrant struct {
	Program string // a key of Driver.Commands
	Recipe  string
	Label   string // for people
}

// Scenario is something that all entrants play.
type Scenario struct {
	Name     string // of package peer
	N        int
	Entrants []Entrant
	// Alone starts a new process for each measurement, because the memory that an earlier one left would be counted
	// with it.
	Alone bool
}

// Measurement is what one entrant used in one round.
type Measurement struct {
	Samples map[string][]float64 // nanoseconds, by what was measured
	CPU     time.Duration        // of the program, for all of the run
	Mallocs uint64               // 0 if the program does not know
	RSS     int64                // bytes, after the run
	Grown   int64                // bytes, how much RSS grew since before the run
}

// Round is one measurement of each entrant that did not fail.
type Round struct {
	Others float64 // share of the machine
	By     map[Entrant]Measurement
}

// Count is what crossed the network in a whole run. Requests are without pings; Bytes are those of both directions.
type Count struct{ Requests, Bytes int64 }

// Result is all rounds of a scenario.
type Result struct {
	Scenario Scenario
	Rounds   []Round
	Counts   map[Entrant]Count // empty if nothing was counted
	Failed   map[Entrant]error // entrants that failed; they have no measurements
}

// QuietRounds returns the rounds in which others took at most Quiet.
func (r *Result) QuietRounds() (quiet []Round) {
	for _, round := range r.Rounds {
		if round.Others <= Quiet {
			quiet = append(quiet, round)
		}
	}
	return quiet
}

// Driver starts programs and measures them. It is used from one goroutine.
type Driver struct {
	Commands map[string]func() *exec.Cmd               // how each program is started
	Count    map[string]func() (requests, bytes int64) // of each program, if there is a meter
	// of the paths that it uses, as in "/timed": no other driver on the same servers has it
	Root   string
	Rounds int                                                     // at least so many quiet ones are wanted
	Most   int                                                     // rounds, quiet or not
	Seed   uint64                                                  // of the order
	Take   func() (machine.Snapshot, error)                        // machine.Take
	Usage  func(pid int) (cpu time.Duration, rss int64, err error) // of a process
	Log    func(format string, args ...any)                        // progress

	running map[string]*peer.Process
	paths   int
}

// Usage returns the CPU time of a process, and how many bytes of its memory are resident.
func Usage(pid int) (cpu time.Duration, rss int64, err error) {
	if cpu, err = machine.CPU(pid); err != nil {
		return 0, 0, err
	}
	rss, err = machine.RSS(pid)
	return cpu, rss, err
}

// Versions asks every program that was started for its versions.
func (d *Driver) Versions() (all map[string]string, err error) {
	all = map[string]string{}
	for program := range d.Commands {
		p, err := d.process(program)
		if err != nil {
			return nil, err
		}
		answer, err := p.Do(peer.Command{Do: peer.Versions}, answerWithin)
		if err != nil {
			return nil, err
		}
		all[program] = answer.Versions
	}
	return all, nil
}

// Close ends all programs.
func (d *Driver) Close() error {
	var errs []error
	for program := range d.running {
		errs = append(errs, d.quit(program))
	}
	return errors.Join(errs...)
}

func (d *Driver) process(program string) (*peer.Process, error) {
	if p := d.running[program]; p != nil {
		return p, nil
	}
	command := d.Commands[program]
	if command == nil {
		return nil, fmt.Errorf("driver: no program %s", program)
	}
	p, err := peer.Start(program, command())
	if err != nil {
		return nil, err
	}
	if d.running == nil {
		d.running = map[string]*peer.Process{}
	}
	d.running[program] = p
	return p, nil
}

func (d *Driver) quit(program string) error {
	p := d.running[program]
	delete(d.running, program)
	if p == nil {
		return nil
	}
	return p.Quit(quitWithin)
}

// Play plays a scenario: warm rounds, which are not counted, and then rounds until Rounds of them were quiet, or Most
// were played. If the context ends, Play ends after the present round, and returns the rounds so far. An entrant that
// fails is left out of all later rounds, and its earlier ones do not count. Result.Failed has its error.
func (d *Driver) Play(ctx context.Context, s Scenario, warm int) (*Result, error) {
	result := &Result{Scenario: s, Counts: map[Entrant]Count{}, Failed: map[Entrant]error{}}
	if s.Alone { // each process is new, and cannot be warm
		warm = 0
	}
	order := rand.New(rand.NewPCG(d.Seed, uint64(len(s.Name))))
	for i := -warm; i < d.Most && ctx.Err() == nil && len(result.QuietRounds()) < d.Rounds; i++ {
		round, err := d.round(result, order.Perm(len(s.Entrants)))
		if err != nil {
			return nil, err
		}
		if i < 0 {
			continue
		}
		result.Rounds = append(result.Rounds, round)
		d.Log("%s: round %d, others took %.0f %% of the machine", s.Name, i+1, 100*round.Others)
	}
	for failed := range result.Failed {
		for _, round := range result.Rounds {
			delete(round.By, failed)
		}
		delete(result.Counts, failed)
	}
	return result, nil
}

// round gives every entrant its turn.
func (d *Driver) round(result *Result, order []int) (Round, error) {
	round := Round{By: map[Entrant]Measurement{}}
	before, err := d.Take()
	if err != nil {
		return round, err
	}
	for _, i := range order {
		e := result.Scenario.Entrants[i]
		if result.Failed[e] != nil {
			continue
		}
		m, count, err := d.measure(result.Scenario, e)
		if err != nil {
			d.Log("%s: %s fails: %v", result.Scenario.Name, e.Label, err)
			result.Failed[e] = err
			d.quit(e.Program) // its state is unknown
			continue
		}
		round.By[e] = m
		if d.Count[e.Program] != nil {
			result.Counts[e] = count
		}
	}
	after, err := d.Take()
	if err != nil {
		return round, err
	}
	round.Others = before.Others(after)
	return round, nil
}

// measure has one entrant play once.
func (d *Driver) measure(s Scenario, e Entrant) (m Measurement, c Count, err error) {
	if s.Alone {
		d.quit(e.Program)
		defer func() { d.quit(e.Program) }()
	}
	p, err := d.process(e.Program)
	if err != nil {
		return m, c, err
	}
	d.paths++
	path := fmt.Sprintf("%s-%d", d.Root, d.paths)
	prepare := peer.Command{Do: peer.Prepare, Scenario: s.Name, Recipe: e.Recipe, Path: path, N: s.N}
	if _, err := p.Do(prepare, answerWithin); err != nil {
		return m, c, err
	}
	if m, c, err = d.run(p, e.Program); err != nil {
		return m, c, err
	}
	_, err = p.Do(peer.Command{Do: peer.Clean}, answerWithin)
	return m, c, err
}

// run is the part that is measured.
func (d *Driver) run(p *peer.Process, program string) (m Measurement, c Count, err error) {
	count := d.Count[program]
	if count == nil {
		count = func() (requests, bytes int64) { return 0, 0 }
	}
	cpu, rss, err := d.Usage(p.PID())
	if err != nil {
		return m, c, err
	}
	requests, bytes := count()
	answer, err := p.Do(peer.Command{Do: peer.Go}, answerWithin)
	if err != nil {
		return m, c, err
	}
	requestsAfter, bytesAfter := count()
	cpuAfter, rssAfter, err := d.Usage(p.PID())
	if err != nil {
		return m, c, err
	}
	m = Measurement{Samples: map[string][]float64{}, CPU: cpuAfter - cpu, Mallocs: answer.Mallocs, RSS: rssAfter,
		Grown: rssAfter - rss}
	for what, samples := range answer.Samples {
		for _, nanos := range samples {
			m.Samples[what] = append(m.Samples[what], float64(nanos))
		}
	}
	return m, Count{requestsAfter - requests, bytesAfter - bytes}, nil
}
