package world

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// Program is what a client of a script runs: one handle of one recipe, which it always
// wants. It works while it leads, holds or is inside. When that ends, or the script makes
// it resign, it wants the same again.
type Program struct {
	Recipe  string            `json:"recipe"`
	Path    string            `json:"path"`
	Options map[string]string `json:"options,omitempty"` // of the machine, in addition to those of every handle
	Waits   bool              `json:"waits,omitempty"`   // it begins with a Start, not by itself
	Name    string            `json:"name,omitempty"`    // what its nodes say; without it that is the client's number
	// how long it leads, holds or is inside before it releases that by itself; 0: it does not. Of shards: how long the
	// work on one takes to return when it has to.
	Works   time.Duration `json:"works,omitempty"`
	Forgets bool          `json:"forgets,omitempty"` // it does not release what was lost, and never works again
}

// usage says how a recipe is used: by commands to one machine that stays, or by a machine
// for each call.
type usage struct {
	calls   bool        // each call has a machine
	acquire events.Kind // the command that asks for what the program wants; "" if the start does
	release events.Kind // the command that releases it; "" if the return of the work does
	more    map[string]string
	noTerm  bool // it knows no belief that could be ridden out
}

// playable has the options of the recipes that a page offers, as they are without Program.Options.
var playable = map[string]map[string]string{
	"latch":    nil,
	"selector": {machines.OptionAutoRequeue: "true"},
	"mutex":    {machines.OptionTry: "false", machines.OptionRevocable: "false"},
	"readwrite": {machines.OptionTry: "false", machines.OptionRevocable: "false",
		machines.OptionReads: "false"},
	"semaphore":     {machines.OptionTry: "false", machines.OptionLimit: "1", machines.OptionPermits: "1"},
	"doublebarrier": {machines.OptionQuantity: "2"},
	"shards":        {machines.OptionShards: "6", machines.OptionSettle: "2s"},
}

// unlisted are those of tests: the instance that led a job leads it again, so that there is little to see.
var unlisted = []string{"nodeelection", "jobelection"}

// usage returns how the program's recipe is used, and whether that is known.
func (p Program) usage() (usage, bool) {
	more, known := playable[p.Recipe]
	t := machines.TraitsOf(p.Recipe)
	u := usage{calls: t.Acquisition, more: more, noTerm: !t.Grants.HasTerms()}
	switch {
	case t.Grants == machines.GrantsEntry:
		u.acquire, u.release = events.CommandEnter, events.CommandLeave
	case t.Callback:
	case t.Acquisition:
		u.acquire = events.CommandAwait
	default:
		u.acquire, u.release = events.CommandAwait, events.CommandResign
	}
	return u, known || slices.Contains(unlisted, p.Recipe)
}

// Playable returns the recipes that a Program can have, and that a page offers.
func Playable() []string { return slices.Sorted(maps.Keys(playable)) }

func (p Program) check() error {
	_, known := p.usage()
	switch {
	case !known:
		return fmt.Errorf("the recipe %.40q has no program: want one of %s", p.Recipe, strings.Join(Playable(), ", "))
	case len(p.Path) > 200 || !strings.HasPrefix(p.Path, "/") || strings.HasSuffix(p.Path, "/") ||
		strings.Contains(p.Path, "//"):
		return fmt.Errorf("the path %.40q: want one like /jobs, of at most 200 bytes", p.Path)
	case len(p.Name) > 200:
		return fmt.Errorf("the name %.40q: want at most 200 bytes", p.Name)
	case p.Works < 0 || p.Works > MaxTime:
		return fmt.Errorf("work of %s: want at most a day", p.Works)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Options)) {
		if name == machines.OptionRetry || len(name)+len(p.Options[name]) > 200 {
			return fmt.Errorf("the option %.40q cannot be set", name)
		}
	}
	return nil
}

// program is a Program that runs.
type program struct {
	Program
	usage
	c      *Client
	serial int // calls so far
	work   bool
	id     events.ID

	started, leaving bool
	leads            bool
	wanted           uint64 // the command without an answer that asks for what it wants; 0 is none
	inside           bool
	terms            int // how often it has got what it wants

	shards map[uint64]bool // those on which it works
}

func (w *World) addProgram(p Program) {
	c := w.AddClient(Process{})
	u := &program{Program: p, c: c, shards: map[uint64]bool{}}
	u.usage, _ = p.usage()
	c.program = u
	d := NewDice(w.script.Seed, fmt.Sprint("program ", c.id))
	c.Ask(events.SessionMachine, events.CommandOpen,
		events.Event{Recipe: "session", Seed: newSeed(d), Options: w.script.SessionOptions("bounded/-1/100ms/2s")})
	if !u.calls {
		u.open()
	}
	if !p.Waits {
		// it may have been started by then
		w.After(Between(d, 0, 300*time.Millisecond), func() { c.Run(func() { _ = u.start() }) })
	}
}

func newSeed(d *rand.Rand) string { return fmt.Sprintf("%016x%016x", d.Uint64(), d.Uint64()) }

// open opens the machine of the handle, or of the next call.
func (u *program) open() {
	u.serial++
	u.id = events.ID(fmt.Sprintf("%s-%d", u.Recipe, u.serial))
	options := map[string]string{machines.OptionRetry: "bounded/-1/50ms/2s"}
	if !u.noTerm {
		options[machines.OptionRideOut] = fmt.Sprint(u.c.w.script.RideOut)
	}
	maps.Copy(options, u.more)
	maps.Copy(options, u.Options)
	d := NewDice(u.c.w.script.Seed, fmt.Sprint("program ", u.c.id, " call ", u.serial))
	u.c.Ask(u.id, events.CommandOpen,
		events.Event{Recipe: u.Recipe, Path: u.Path, Data: u.data(), Seed: newSeed(d), Options: options})
}

// data returns what the program's nodes say.
func (u *program) data() []byte {
	if u.Name != "" {
		return []byte(u.Name)
	}
	return fmt.Append(nil, u.c.id, "/", u.id)
}

func (u *program) start() error {
	switch {
	case u.leaving:
		return errLeaving
	case u.started:
		return errStarted
	}
	u.started = true
	u.c.Ask(events.SessionMachine, events.CommandStart, events.Event{})
	if !u.calls {
		u.c.Ask(u.id, events.CommandStart, events.Event{})
	}
	u.ask()
	return nil
}

// ask asks for what the program wants, unless it has that or has asked for it.
func (u *program) ask() {
	if u.leaving || u.wanted != 0 || u.leads || u.work || u.inside || u.acquire == "" {
		return
	}
	if u.calls {
		u.open()
	}
	u.wanted = u.c.Ask(u.id, u.acquire, events.Event{})
}

// close ends the handle, then the session a moment later.
func (u *program) close() error {
	if u.leaving {
		return errLeaving
	}
	u.leaving, u.inside = true, false
	after := u.c.w.script.Tick
	if len(u.shards) > 0 {
		after += u.Works // its node goes when the work has returned
	}
	if u.id != "" {
		u.c.Ask(u.id, events.CommandClose, events.Event{})
	}
	u.end()
	u.c.RunAfter(after, u.c.closeSession)
	return nil
}

// resign releases what the program holds.
func (u *program) resign() error {
	switch {
	case u.leaving:
		return errLeaving
	case !u.started:
		return errNotStarted
	case len(u.shards) > 0:
		return errKeepsShards
	case !u.leads && !u.inside && !u.work:
		return errHoldsNothing
	case u.release != "":
		u.c.Ask(u.id, u.release, events.Event{})
		u.inside = false
	}
	u.end()
	return nil
}

// notice takes a notice of the machine.
func (u *program) notice(id events.ID, n events.Notify) {
	if id != u.id {
		return
	}
	switch n.What {
	case events.Delivered:
		u.shards[n.Work] = true
	case events.Withdrawn:
		u.leaveShard(n.Work)
	case events.Elected:
		u.leads = true
		if u.acquire == "" {
			u.began()
		}
	case events.Granted:
		u.c.ForgetCommand(n.Work)
		u.wanted = 0
		u.began()
	case events.Stopped:
		u.leads = false
		if !u.Forgets {
			u.c.RunAfter(Between(u.c.dice.roll(programDice), 0, 50*time.Millisecond), u.end)
		}
	}
}

// leaveShard has the work on a shard return.
func (u *program) leaveShard(work uint64) {
	after := u.Works
	switch {
	case u.Forgets:
		return
	case after == 0:
		after = Between(u.c.dice.roll(programDice), 0, 50*time.Millisecond)
	}
	u.c.RunAfter(after, func() {
		delete(u.shards, work)
		u.c.Post(u.id, events.Event{Kind: events.WorkReturned, Work: work})
	})
}

// began begins the work, and ends it after a while if the program does that by itself.
func (u *program) began() {
	u.work = u.work || u.acquire != events.CommandEnter
	u.terms++
	if term := u.terms; u.Works > 0 {
		u.c.RunAfter(u.Works, func() {
			if u.terms == term && (u.leads || u.inside) {
				_ = u.resign() // it holds something, or the world is about to say that it does not
			}
		})
	}
}

// answered takes the answer of a command.
func (u *program) answered(a events.Answer) {
	if u.wanted == 0 || a.Command != u.wanted {
		return
	}
	u.wanted = 0
	if u.inside = u.acquire == events.CommandEnter && a.Code == events.OK; !u.inside {
		u.again()
		return
	}
	u.began()
}

// end returns the work.
func (u *program) end() {
	if u.Forgets && u.work && !u.leads {
		return
	}
	if u.work {
		u.work = false
		u.c.Post(u.id, events.Event{Kind: events.WorkReturned})
	}
	u.again()
}

// again asks for the same again, after a while.
func (u *program) again() { u.c.RunAfter(200*time.Millisecond, u.ask) }

// Holds reports whether a client of a script leads, holds, is inside or works on a shard, as far as its
// program knows.
func (c *Client) Holds() bool {
	return c.program != nil && (c.program.leads || c.program.inside || len(c.program.shards) > 0)
}

// WorksOn reports whether the program of a script works on a shard.
func (c *Client) WorksOn(shard int) bool {
	return c.program != nil && c.program.shards[uint64(shard)+1]
}
