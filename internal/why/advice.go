package why

import (
	"fmt"
	"time"
)

// Advice is what to do now.
type Advice struct {
	Cause   Cause  `json:"cause,omitempty"` // for which; "" for a verdict
	Text    string `json:"text"`
	Command string `json:"command,omitempty"`
}

// String returns the advice with its command.
func (a Advice) String() string {
	if a.Command == "" {
		return a.Text
	}
	return a.Text + ": " + a.Command
}

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
	CauseServerCutOff:   {"look at that server's own log: did it lose the ensemble's leader?", ""},
	CauseSlowEnsemble:   {"look at the disks and the load of the servers", ""},
	CauseSlowLoop:       {"look at the CPU of the process, and for a callback that blocks", "top    # on %s"},
	CauseUnconfirmed:    {"look at the ensemble's logs of that moment", ""},
	CauseSessionExpired: {"look at the servers' clocks and logs: somebody may have ended the session by hand", ""},
	CauseSessionRefused: {"look at what cut the client off from the ensemble", ""},
	CauseDeleted:        {"find out who deleted the node: --txnlog has the session", ""},
	CauseEvicted:        {"ask who evicted it", ""},
	CauseChanged:        {"find out who wrote to the node", ""},
	CauseUnhealthy:      {"look at its health check", ""},
	CauseCannotDeal:     {"look at the job's configuration and strategy", ""},
	CauseNoRights:       {"correct access lists and credentials", ""},
	CauseTooLarge:       {"look at the size of the node, or of the directory", ""},
	CauseRefused:        {"look up the code in the servers' logs", ""},
	CauseSessionEnded:   {"look at its rights: it could not delete its node", ""},
	CauseGap:            {"look at the disk of --record, and take --txnlog", ""},
}

// advise returns what to do about a line: first what cannot wait, then the cause of the last end that was not on
// purpose.
func (r *Report) advise(s *LineSummary, part *Report) (all []Advice) {
	switch {
	case s.Verdict == TwoAtOnce:
		all = append(all, Advice{Text: "compare what both wrote while both had the right to lead"})
	case s.Work == WorkTwo:
		all = append(all, Advice{Text: part.checkTokens()})
	}
	if b := s.InTheWay; b != nil && s.NobodySince != nil &&
		s.AsOf.Sub(*s.NobodySince) > part.lastTimeout() { // else it may be going
		all = append(all, b.advice())
	}
	for i := len(part.Moves) - 1; i >= 0; i-- {
		m := part.Moves[i]
		a, known := advice[m.Ending.Cause]
		if m.From == nil || !known {
			continue
		}
		host := m.From.Log.Header.Host
		one := Advice{Cause: m.Ending.Cause, Text: a.text + " (" + m.From.who() + " at " + r.time(m.From.Log,
			m.Ending.At) + ")"}
		if a.command != "" && host != "" {
			one.Command = fmt.Sprintf(a.command, oneLine(host))
		}
		return append(all, one)
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
	return fmt.Sprintf("check what tokens %d and %d wrote at once: a store that compares them has refused the lower",
		worst.Earlier.Token, worst.Later.Token)
}

// advice says how the node goes.
func (b InTheWay) advice() Advice {
	a := Advice{Cause: CauseForgottenRelease, Text: "end the process, and its node goes"}
	if b.PID != 0 && b.Host != "" {
		a.Command = fmt.Sprintf("kill %d    # on %s", b.PID, oneLine(b.Host))
	}
	return a
}
