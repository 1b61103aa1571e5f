package play

import (
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/internal/world"
)

// outcome is what a deed did, or why it did nothing.
type outcome struct {
	says string
	why  string
}

// outcome returns what came of a deed, in words. A pause is kept for the participant's lane.
func (r *run) outcome(d Deed, o world.Outcome) outcome {
	if o.Why != nil {
		return outcome{why: o.Why.Error()}
	}
	now := r.w.Now()
	switch d.Verb {
	case "freeze":
		r.pause(o.Action.Who, now, r.w.Clients()[o.Action.Who].PausedUntil())
	case "kill":
		r.pause(o.Action.Who, now, 0)
	}
	return outcome{says: r.sentence(d)}
}

// pause notes that a process does not run; to 0 is for good.
func (r *run) pause(who int, from, to int64) {
	all := r.pauses[who]
	if n := len(all); n > 0 && (all[n-1].to == 0 || all[n-1].to >= from) {
		all[n-1].to = to
		return
	}
	r.pauses[who] = append(all, span{from: from, to: to})
}

// sentence says what a deed did.
func (r *run) sentence(d Deed) string {
	who, long := d.Target, length(d.For)
	switch d.Verb {
	case "start":
		return who + "'s program begins"
	case "close":
		return who + "'s program closes its handle, and its session a tick later"
	case "resign":
		return who + "'s program releases what it holds"
	case "kill":
		return who + "'s process is gone; its session runs out"
	case "freeze":
		return "nothing of " + who + "'s process runs for " + long
	case "cut":
		return who + "'s connection is closed by the server"
	case "mute":
		return who + "'s connection delivers nothing any more"
	case "lose-reply":
		return who + "'s next write will be carried out, and its reply lost"
	case "expire":
		return "the ensemble ends " + who + "'s session"
	case "delete":
		return "an operator deletes " + who + "'s newest node"
	case "hide":
		return "an operator takes away the right to read " + who + "'s newest node"
	case "isolate":
		return "server " + who + " reaches no other server for " + long
	case "crash":
		return "server " + who + " is away for " + long
	case "freeze-server":
		return "nothing of server " + who + " runs for " + long
	case "depose":
		return "server " + r.w.Ensemble().Leader().Name() + ", the ensemble's leader, is cut off, and leads on by " +
			"itself for up to " + long
	default:
		return "commits take up to a third of the session timeout longer for " + long
	}
}

// length returns a duration as text, "9 s".
func length(d time.Duration) string { return seconds(d) + " s" }

// plural returns a number of things.
func plural(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprint(n, " ", thing)
}
