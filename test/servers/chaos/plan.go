package chaos

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// terms are the times that everything else is measured in.
type terms struct {
	session time.Duration // T, the session timeout
	patient time.Duration // how long a server that was cut off goes on answering: syncLimit ticks
}

// fault is one thing that is done, and taken back after a while.
type fault struct {
	At   time.Duration // after the beginning; later if the one before took longer
	For  time.Duration
	What string
	// Whom is a follower's number if servers are meant, otherwise a slot's, unless the fault is Aimed.
	Whom int
	// Aimed is the number of the line whose leader at that moment is meant, if there is one; -1 if none is.
	Aimed int
}

func (f fault) String() string {
	whom := fmt.Sprintf("%d", f.Whom)
	if f.Aimed >= 0 {
		whom = fmt.Sprintf("the leader of line %d, or %d", f.Aimed, f.Whom)
	}
	return fmt.Sprintf("%6.1f s  %-28s %-26s for %.1f s", f.At.Seconds(), f.What, whom, f.For.Seconds())
}

// kindOfFault says how long a fault lasts, as parts of the session timeout and of the servers' patience.
type kindOfFault struct {
	what                 string
	leastT, mostT        float64
	leastPatient, mostPa float64
}

// serverFaults are done to servers one at a time; the ensemble is whole again before the next.
var serverFaults = []kindOfFault{
	{"kill the leader", 0.1, 1.5, 0, 0},
	{"kill a follower", 0.1, 1.5, 0, 0},
	{"stop a follower", 0.1, 1.5, 0, 0},
	{"kill two servers", 0.3, 1.5, 0, 0},
	{"pause the leader", 0.2, 0, 0, 1.2},
	{"pause a follower", 0.2, 0, 0, 1.2},
	{"cut off a follower", 0, 0, 0.9, 1.3},
	{"isolate a server", 0, 0, 0.5, 1.3},
	{"desert the leader", 0, 0, 0.9, 1.3},
	{"silence one way", 0, 0, 0.5, 1.2},
	{"slow down the servers' links", 0.5, 2, 0, 0},
	{"cut the servers' connections", 0.05, 0.5, 0, 0},
}

// clientFaults are done to one slot, the clients of all lines in it at once.
var clientFaults = []kindOfFault{
	{"kill the clients", 0.05, 1, 0, 0},
	{"pause the clients shortly", 0.02, 0.6, 0, 0},
	{"pause the clients for long", 0.9, 2.5, 0, 0},
	{"silence the clients", 0.2, 2, 0, 0},
	{"silence what the clients send", 0.2, 2, 0, 0},
	{"silence what the clients hear", 0.2, 2, 0, 0},
	{"slow down the clients' links", 0.5, 2, 0, 0},
	{"cut the clients' connections", 0.02, 0.5, 0, 0},
}

// plan is what will be done: two lists that are carried out at the same time.
type plan struct{ servers, clients []fault }

// draw draws a plan for so long a run from a seed. Every kind of fault comes once before any comes again.
func draw(seed uint64, long time.Duration, t terms, slots, lines int) plan {
	chance := rand.New(rand.NewPCG(seed, 0))
	between := func(least, most float64) float64 { return least + chance.Float64()*(most-least) }
	deal := func(kinds []kindOfFault, gapLeast, gapMost float64, whom int) (all []fault) {
		var deck []int
		for at := time.Duration(0); ; {
			at += time.Duration(between(gapLeast, gapMost) * float64(t.session))
			if len(deck) == 0 {
				deck = chance.Perm(len(kinds))
			}
			k := kinds[deck[0]]
			deck = deck[1:]
			least := max(k.leastT*t.session.Seconds(), k.leastPatient*t.patient.Seconds())
			most := max(k.mostT*t.session.Seconds(), k.mostPa*t.patient.Seconds())
			f := fault{At: at, What: k.what, Whom: chance.IntN(whom), Aimed: -1}
			f.For = time.Duration(between(least, most) * float64(time.Second)).Round(time.Millisecond)
			if chance.IntN(3) > 0 {
				f.Aimed = chance.IntN(lines)
			}
			if at += f.For; at > long {
				return all
			}
			all = append(all, f)
		}
	}
	return plan{servers: deal(serverFaults, 0.3, 1.5, 2), clients: deal(clientFaults, 0.1, 0.8, slots)}
}

func (p plan) String() string {
	var b strings.Builder
	b.WriteString("servers\n")
	for _, f := range p.servers {
		fmt.Fprintln(&b, f)
	}
	b.WriteString("clients\n")
	for _, f := range p.clients {
		fmt.Fprintln(&b, f)
	}
	return b.String()
}

// kindsOfFaults returns the names of all faults.
func kindsOfFaults() (all []string) {
	for _, some := range [][]kindOfFault{serverFaults, clientFaults} {
		for _, k := range some {
			all = append(all, k.what)
		}
	}
	return all
}

// has returns how often the plan has a fault.
func (p plan) has(what string) (n int) {
	for _, some := range [][]fault{p.servers, p.clients} {
		for _, f := range some {
			if f.What == what {
				n++
			}
		}
	}
	return n
}
