package why

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// stints returns when work ran under a term. Of a command it is what the log of commands says. A work that had not
// ended by the end of the log is returned up to there.
func (h *history) stints(t *Term) (all []stint) {
	released := t.worked()
	n := len(released)
	ran := slices.Clone(h.commands[t])
	for i := range ran {
		if s := &ran[i]; s.open && n > 0 && !released[n-1].open { // elect releases it when the command has ended
			s.to, s.open, s.earlier = released[n-1].to, false, true
		}
	}
	if len(ran) > 0 {
		return ran
	}
	commands := strings.HasSuffix(t.Log.Header.Program, electProgram)
	for _, s := range released {
		if commands { // the guard may have ended the command long before
			s.earlier, s.command = true, events.CommandBegan
			all = append(all, s)
			continue
		}
		all = append(all, s.without(t.Log.pauses)...)
	}
	return all
}

// electProgram is what the path of the program ends with whose work is a command.
const electProgram = "/cmd/incumbent"

// worked returns when work was given out under a term and had not returned. Work that had not ended by the end of the
// log is returned up to there.
func (t *Term) worked() (all []stint) {
	end := endless
	if t.next != nil {
		end = t.next.ElectedAt
	}
	worked := t.machine().stints // in order, and only the last is open
	first, _ := slices.BinarySearchFunc(worked, t.ElectedAt, func(s stint, at int64) int {
		if s.open {
			return 1
		}
		return cmp.Compare(s.to, at)
	})
	for _, s := range worked[first:] {
		if s.from >= end {
			break
		}
		if s.open {
			s.to = max(t.Log.last, s.from)
		}
		all = append(all, s)
	}
	return all
}

// commandsOf finds the terms of commands. It returns the lines of those whose term is in no log.
func (h *history) commandsOf(files [][]events.CommandLine) (strange []events.CommandLine) {
	terms := map[string][]*Term{}
	for _, l := range h.logs {
		for _, t := range l.terms {
			terms[t.Node] = append(terms[t.Node], t)
		}
	}
	h.commands = map[*Term][]stint{}
	for _, lines := range files {
		running := map[int]*Term{} // by the process group
		for _, line := range lines {
			t := running[line.Group]
			if line.What == events.CommandBegan {
				if t = termOf(terms[line.Node], line); t == nil {
					strange = append(strange, line)
				} else {
					at := t.Log.reading(line)
					h.commands[t] = append(h.commands[t], stint{from: at, to: max(at, t.Log.last), open: true,
						command: line.What})
				}
				running[line.Group] = t
				continue
			}
			if t != nil {
				last := &h.commands[t][len(h.commands[t])-1]
				last.endCommand(line.What, t.Log.reading(line))
			}
		}
	}
	return strange
}

// termOf returns the term in which a command began: the last of the node that had begun.
func termOf(all []*Term, line events.CommandLine) (last *Term) {
	for _, t := range all {
		if t.Token == line.Token && (last == nil || t.ElectedAt <= t.Log.reading(line)) {
			last = t
		}
	}
	return last
}

// Overlap says whether the work of two terms ran at once.
type Overlap struct {
	Earlier, Later *Term
	// Both is for how long at least, and Error by how much that may be wrong. 0: it is not shown that both ran.
	Both, Error time.Duration
	Open        string // why it is not known whether they did, or for how long; "": it is known
	// After is how long before the later term the work of the earlier one ended; less than 0: how long it ran on in it.
	After   time.Duration
	Known   bool // After is
	command events.CommandStep
}

// workOf compares the work of two terms. It returns false if the logs have none of the earlier one.
func (h *history) workOf(a, b *Term) (o Overlap, recorded bool) {
	o = Overlap{Earlier: a, Later: b}
	mine, others := h.stints(a), h.stints(b)
	if len(mine) == 0 || a.Log == b.Log && a.Machine == b.Machine {
		return o, false
	}
	last := mine[len(mine)-1]
	o.command = last.command
	for _, s := range mine {
		if s.open && !h.diedWith(a, b, s) {
			o.Open = cmp.Or(o.Open, h.whyOpen(a, s))
		}
		if s.unsure {
			o.Open = cmp.Or(o.Open, "records of "+a.Log.Name+" are missing while its work ran")
		}
		for _, other := range others {
			h.addOverlap(&o, s, other)
		}
	}
	after := h.clocks.between(a.Log, last.to, b.Log, b.ElectedAt)
	o.After, o.Known = time.Duration(after.mid()), after.known() && !last.earlier && (after.lo >= 0 || after.hi < 0)
	return o, true
}

// addOverlap adds the time in which two pieces of work ran at once.
func (h *history) addOverlap(o *Overlap, s, other stint) {
	a, b := o.Earlier, o.Later
	after := h.clocks.between(a.Log, s.to, b.Log, other.from)  // the later one begins when the earlier one has ended
	before := h.clocks.between(b.Log, other.to, a.Log, s.from) // or the earlier one when the later one has
	switch {
	case after.lo >= 0 || before.lo >= 0 && !other.open || h.sawTheEnd(a, b, s):
	case s.earlier || s.open && s.command != "":
		o.Open = cmp.Or(o.Open, "when the command of "+a.who()+" ended is not recorded")
	case after.hi < 0 && before.hi < 0:
		long := min(-after.mid(), -before.mid(), s.to-s.from, other.to-other.from)
		o.Both += time.Duration(max(long, 1))
		o.Error = max(o.Error, time.Duration(after.width()/2))
	case s.to > s.from || s.open:
		o.Open = cmp.Or(o.Open,
			"the clocks do not show whether the work of "+a.who()+" had ended when that of "+b.who()+" began")
	}
}

// sawTheEnd reports whether a term began after it had seen that the node was gone which the earlier client had
// deleted when its work had ended.
func (h *history) sawTheEnd(a, b *Term, s stint) bool {
	if s.open || s.command != "" && s.command != events.CommandEnded {
		return false
	}
	asked := h.endedItself(a)
	if asked == 0 || s.seq > asked || a.traits().FixedName {
		return false
	}
	return sawGone(b.Log, a.Node, b.Elected) != 0 || b.listed.dir == a.Dir && b.listed.seq > 0 && !inListing(b.listed,
		a.Node) && b.Token > a.Token
}

// diedWith reports whether work without an end ended with its process, at the end of the log.
func (h *history) diedWith(a, b *Term, s stint) bool {
	return s.command == "" && a.Open() && h.endingOf(a, b).Cause == CauseKilled
}

// whyOpen says why the end of a piece of work is not known.
func (h *history) whyOpen(t *Term, s stint) string {
	if s.command != "" {
		return "when the command of " + t.who() + " ended is not recorded"
	}
	return "the work of " + t.who() + " had not returned by the end of its log"
}
