//go:build unix

package incidents

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent/internal/why"
)

// observer is the driver's view of an incident: what participants say while they work, when by this host's monotonic
// clock, and what the driver did. It reads no log.
type observer struct {
	mu     sync.Mutex
	spells map[*actor][]*spell
	worked map[*actor][][2]float64 // from when until when, in seconds of uptime
	truth  Truth
	leads  *actor
	hidden map[*actor]bool // their logs are not kept
	both   bool            // two may have the right at once, since a leader's node was deleted
	over   float64
	logged map[*actor]int // how many elections its log has

	changed *sync.Cond // logged has grown
}

// spell is a time between "leading" and "stopped".
type spell struct {
	who           *actor
	from          float64
	last          float64 // the last sign of work before the right ended, as far as signs show
	stopped       float64 // 0: it never said so
	interrupted   bool    // signs of work failed to come for a while: the process, or its work, stood still
	interruptedAt float64
}

// gap is for how long no sign of work comes from a process that does not run.
const gap = 1.0

// stamp returns for how long this host has run, in seconds, by a clock that goes on in a pause and that nobody sets;
// "0" on a system that does not tell.
func stamp() string {
	b, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return "0"
	}
	at, _, _ := strings.Cut(string(b), " ")
	return at
}

var begun = time.Now()

// uptime returns the same as a number; on a system that does not tell, for how long this process has run.
func uptime() float64 {
	if at, err := strconv.ParseFloat(stamp(), 64); err == nil && at != 0 {
		return at
	}
	return time.Since(begun).Seconds()
}

// hear notes a line of a participant, and returns what of it the play waits for.
func (o *observer) hear(a *actor, line string) string {
	what, when, _ := strings.Cut(line, " @")
	at, err := strconv.ParseFloat(when, 64)
	if err != nil || at == 0 {
		at = uptime()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.spells == nil {
		o.spells, o.worked = map[*actor][]*spell{}, map[*actor][][2]float64{}
		o.logged, o.hidden = map[*actor]int{}, map[*actor]bool{}
	}
	n := len(o.spells[a])
	switch what {
	case "leading":
		if n > 0 && o.spells[a][n-1].stopped == 0 {
			break // its work came first
		}
		o.spells[a] = append(o.spells[a], &spell{who: a, from: at, last: at})
	case "logged":
		if o.logged[a]++; o.changed != nil {
			o.changed.Broadcast()
		}
		return ""
	case "stopped":
		if n > 0 && o.spells[a][n-1].stopped == 0 {
			o.spells[a][n-1].stop(at)
		}
	case "working":
		if n == 0 {
			o.spells[a] = append(o.spells[a], &spell{who: a, from: at, last: at})
		}
		o.works(a, at)
		if n == 0 && a.command {
			return "leading"
		}
		return ""
	}
	return what
}

func (s *spell) stop(at float64) {
	if at-s.last > gap && !s.interrupted {
		s.interrupted, s.interruptedAt = true, s.last
	}
	s.stopped = at
}

// works notes a sign of work.
func (o *observer) works(a *actor, at float64) {
	all := o.worked[a]
	if n := len(all); n > 0 && at-all[n-1][1] <= gap {
		all[n-1][1] = at
	} else {
		o.worked[a] = append(all, [2]float64{at, at})
	}
	s := o.spells[a][len(o.spells[a])-1]
	if s.stopped != 0 {
		return
	}
	if at-s.last > gap && !s.interrupted {
		s.interrupted, s.interruptedAt = true, s.last
	}
	s.last = at
}

// did notes what the driver does.
func (s *stage) did(what string) {
	s.seen.truth.Did = append(s.seen.truth.Did, time.Now().UTC().Format("15:04:05.000")+" "+what)
}

// because notes a cause of the end of a term, or of the time after it.
func (s *stage) because(term int, of string, is ...why.Cause) {
	s.seen.truth.Why = append(s.seen.truth.Why, Reason{term, of, is})
}

// todo notes causes about one of which something has to be done.
func (s *stage) todo(is ...why.Cause) { s.seen.truth.Do = append(s.seen.truth.Do, is) }

// interrupt notes that a process is about to stand still. A command that it runs may go on.
func (o *observer) interrupt(a *actor) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := len(o.spells[a]); n > 0 && o.spells[a][n-1].stopped == 0 && !o.spells[a][n-1].interrupted {
		o.spells[a][n-1].interrupted, o.spells[a][n-1].interruptedAt = true, uptime()
	}
}

// awaitLog waits until a participant's log has each of its elections.
func (o *observer) awaitLog(a *actor) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.logged[a] < len(o.spells[a]) {
		if o.changed == nil {
			o.changed = sync.NewCond(&o.mu)
		}
		o.changed.Wait()
	}
}

// ends ends the incident: all processes are killed at once. The participant leads then, nil for none; its log has that.
func (s *stage) ends(leads *actor) {
	if leads != nil && !leads.command {
		s.seen.awaitLog(leads)
	}
	s.seen.leads, s.seen.over = leads, uptime()
	s.seen.truth.Over = time.Now().UTC().Format(time.RFC3339Nano)
	for _, a := range s.actors {
		_ = a.cmd.Process.Kill()
	}
	for _, a := range s.actors {
		for range a.lines {
		}
	}
}

// tell writes the truth into a directory.
func (o *observer) tell(s *stage, into string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	t := o.truth
	wall := func(at float64) string {
		return time.Now().Add(time.Duration((at - uptime()) * 1e9)).UTC().Format("2006-01-02T15:04:05.00Z")
	}
	var all []*spell
	for _, some := range o.spells {
		all = append(all, some...)
	}
	slices.SortFunc(all, func(a, b *spell) int { return cmp.Compare(a.from, b.from) })
	for i, one := range all {
		led := Led{Leader: one.who.id, From: wall(one.from), Hidden: o.hidden[one.who]}
		next := o.over
		if i+1 < len(all) {
			next = all[i+1].from
		}
		if i == len(all)-1 && one.who == o.leads {
			t.Leads = one.who.id
			t.Terms = append(t.Terms, led)
			break
		}
		lo, hi := one.until()
		if !o.both {
			hi = min(hi, next)
		}
		led.Until = &Between{wall(lo), wall(hi)}
		t.Terms = append(t.Terms, led)
		least, most := max(0, next-hi), max(0, next-lo)
		if hidden := led.Hidden || i+1 < len(all) && o.hidden[all[i+1].who]; hidden {
			continue
		}
		t.Nobody.Total[0] += least
		t.Nobody.Total[1] += most
		t.Nobody.Longest[0] = max(t.Nobody.Longest[0], least)
		t.Nobody.Longest[1] = max(t.Nobody.Longest[1], most)
	}
	t.Worked = o.atOnce()
	round(&t)
	b, err := json.MarshalIndent(t, "", "  ")
	must(s.t, err)
	must(s.t, os.WriteFile(filepath.Join(into, "truth.json"), append(b, '\n'), 0o644))
}

func round(t *Truth) {
	for _, p := range []*[2]float64{&t.Nobody.Total, &t.Nobody.Longest, &t.Worked.Long} {
		for i := range p {
			p[i], _ = strconv.ParseFloat(fmt.Sprintf("%.2f", p[i]), 64)
		}
	}
}

// until returns between which bounds the right to lead ended: a process that stands still, or is dead, may have it for
// a session timeout at most.
func (s *spell) until() (lo, hi float64) {
	most := sessionTimeout.Seconds()
	switch {
	case s.interrupted:
		return s.interruptedAt, s.interruptedAt + most
	case s.stopped != 0:
		return s.last, s.stopped
	}
	return s.last, s.last + most
}

// atOnce returns for how long two worked at once.
func (o *observer) atOnce() (w Worked) {
	long := 0.0
	for a, mine := range o.worked {
		for b, others := range o.worked {
			if a.id >= b.id {
				continue
			}
			for _, x := range mine {
				for _, y := range others {
					long += max(0, min(x[1], y[1])-max(x[0], y[0]))
				}
			}
		}
	}
	const shortest = 0.1 // a sign comes each 20 ms
	if w.Two = long > shortest; w.Two {
		w.Long = [2]float64{max(0, long-0.3), long + 0.3}
	}
	return w
}
