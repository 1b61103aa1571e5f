package why

import (
	"fmt"
	"strings"
	"time"
)

// String returns the advice with its command.
func (a Advice) String() string {
	if a.Command == "" {
		return a.Text
	}
	return a.Text + ": " + a.Command
}

// commandNote is what separates a command from where to run it.
const commandNote = "    # on "

// advice is what docs/on-call.md says to do about each cause that is not on purpose. %s is the host.
var advice = map[Cause]struct{ text, command string }{
	CauseKilled: {"look for the kernel's OOM killer, a crash, the host",
		"journalctl -k | grep -i 'killed process'    # on %s"},
	CausePaused: {"look at the host: was it throttled, stopped, swapped out?",
		"cat /sys/fs/cgroup/cpu.stat    # on %s, nr_throttled"},
	CauseSlept: {"look at power management: the machine slept",
		"journalctl -b | grep -i suspend    # on %s"},
	CauseClockJump:        {"was the virtual machine restored or moved? Guard its writes by the token", ""},
	CauseConnectionClosed: {"was that server restarted? Otherwise look at the network between", ""},
	CauseConnectionBroken: {"look at the network between the client and that server", ""},
	CauseSilent: {"look at the link to that server, and whether it was cut off from the ensemble's leader",
		""},
	CauseServerCutOff:     {"look at that server's own log: did it lose the ensemble's leader?", ""},
	CauseSlowEnsemble:     {"look at the disks and the load of the servers", ""},
	CauseSlowLoop:         {"look at the CPU of the process, and for a callback that blocks", "top    # on %s"},
	CauseUnconfirmed:      {"look at the ensemble's logs of that moment", ""},
	CauseSessionExpired:   {"look at the servers' clocks and logs: somebody may have ended the session by hand", ""},
	CauseSessionRefused:   {"look at what cut the client off from the ensemble", ""},
	CauseDeleted:          {"find out who deleted the node: --txnlog has the session", ""},
	CauseEvicted:          {"ask who evicted it", ""},
	CauseChanged:          {"find out who wrote to the node", ""},
	CauseReassigned:       {"find out who wrote the assignment", ""},
	CauseUnhealthy:        {"look at its health check", ""},
	CauseCannotDeal:       {"look at the job's configuration and strategy", ""},
	CauseNoRights:         {"correct access lists and credentials", ""},
	CauseTooLarge:         {"look at the size of the node, or of the directory", ""},
	CauseRefused:          {"look up the code in the servers' logs", ""},
	CauseSessionEnded:     {"look at its rights: it could not delete its node", ""},
	CauseUnknown:          {"take --txnlog: it has who ended the node", ""},
	CauseGivenUp:          {"correct what was refused, such as access lists", ""},
	CauseBlocked:          {"delete the node that is in the way", ""},
	CauseForgottenRelease: {"have the work return when its context ends, and call Release", ""},
	CauseGap:              {"look at the disk of --record, and take --txnlog", ""},
}

// adviceAt is what to do about a cause if the server is known. WHO is the participant, SERVER the server's address.
var adviceAt = map[Cause]string{
	CauseConnectionClosed: "was the server at SERVER restarted? Otherwise look at the network between it and WHO",
	CauseConnectionBroken: "look at the network between WHO and the server at SERVER",
	CauseSilent: "look at the link of WHO to SERVER, and whether the server there was cut off from the ensemble's " +
		"leader",
	CauseServerCutOff: "look at the log of the server at SERVER: did it lose the ensemble's leader?",
}

// mostAdvice is how many causes a summary gives advice about.
const mostAdvice = 4

// advise returns what to do about a line: first what cannot wait, then about each cause of the last end that was not
// on purpose, then about clocks.
func (r *Report) advise(s *LineSummary, part *Report) (all []Advice) {
	switch {
	case s.Verdict == TwoAtOnce:
		all = append(all, Advice{Text: "compare what both wrote while both had the right to lead"})
	case s.Work == WorkTwo:
		all = append(part.workThatMayRun(), Advice{Text: part.checkTokens()})
	}
	if b := s.InTheWay; b != nil && s.NobodySince != nil &&
		s.AsOf.Sub(*s.NobodySince) > part.lastTimeout() { // else it may be going
		all = append(all, b.advice())
	}
	for i := len(s.Terms) - 1; i >= 0; i-- {
		if some := s.Terms[i].advice(all); len(some) > 0 {
			all = append(all, some...)
			break
		}
	}
	for _, c := range s.Clocks {
		all = append(all, Advice{Cause: CauseWrongClock, Text: "look at the time service of " + c.Host + ": " + c.Text})
	}
	return all
}

// advice returns what to do about the causes of a term's end that are not on purpose, and that have no advice yet.
func (l Led) advice(given []Advice) (all []Advice) {
	said := map[Cause]bool{}
	for _, a := range given {
		said[a.Cause] = true
	}
	for _, b := range l.Why {
		a, known := advice[b.Cause]
		if !known || said[b.Cause] || len(all) == mostAdvice {
			continue
		}
		said[b.Cause] = true
		text := a.text
		if b.Server != "" && adviceAt[b.Cause] != "" {
			text = strings.NewReplacer("WHO", b.Participant, "SERVER", b.Server).Replace(adviceAt[b.Cause])
		}
		one := Advice{Cause: b.Cause, Text: text + " (" + b.Participant + " at " + clockText(b.at) + ")"}
		if host := b.log.Header.Host; a.command != "" && host != "" {
			one.Command = fmt.Sprintf(a.command, oneLine(host))
		}
		all = append(all, one)
	}
	return all
}

// lastTimeout returns the session timeout of the last term.
func (r *Report) lastTimeout() time.Duration {
	last := r.Moves[len(r.Moves)-1]
	if last.To != nil {
		return last.To.timeout()
	}
	return last.From.timeout()
}

// workThatMayRun says to look whether work still runs that went on in a later term, and whose end is not recorded.
func (r *Report) workThatMayRun() (all []Advice) {
	for i := len(r.Moves) - 1; i >= 0 && len(all) == 0; i-- {
		for _, o := range r.Moves[i].Work {
			if o.Both == 0 || o.Open == "" {
				continue
			}
			a, h := Advice{Text: "look whether the work of " + o.Earlier.who() + " still runs, and stop it"},
				o.Earlier.Log.Header
			if h.PID != 0 && h.Host != "" {
				a.Command = fmt.Sprintf("ps -p %d    # on %s", h.PID, oneLine(h.Host))
			}
			all = append(all, a)
			break
		}
	}
	return all
}

// checkTokens names the tokens of work that ran at once.
func (r *Report) checkTokens() string {
	var worst Overlap
	for _, m := range r.Moves {
		for _, o := range m.Work {
			if o.Both > worst.Both {
				worst = o
			}
		}
	}
	return fmt.Sprintf("check what tokens %d and %d wrote at once: a store that compares them refuses the lower",
		worst.Earlier.Token, worst.Later.Token)
}

// advice says how the node goes.
func (b InTheWay) advice() Advice {
	a := Advice{Cause: CauseForgottenRelease, Text: "end the process, and its node goes"}
	if b.waits {
		a = Advice{Cause: CauseBlocked,
			Text: "see why it does not lead: if its process stands still, end that, and its node goes"}
	}
	if b.PID != 0 && b.Host != "" {
		a.Command = fmt.Sprintf("kill %d    # on %s", b.PID, oneLine(b.Host))
	}
	return a
}
