package incidents

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/why"
	"github.com/incumbent-go/incumbent/internal/why/txnlog"
)

// Incident is one recorded incident.
type Incident struct {
	Name     string
	What     string      // what was done
	Causes   []why.Cause // the first loss has one of these
	Verdicts []why.Verdict
	Also     []why.Cause // all of these delay some move
	Doubts   []string    // each stands in one of the sentences behind the moves
}

var never = []why.Verdict{why.NeverProven, why.NeverMeasured}

// All returns all incidents.
func All() []Incident {
	// another client's deletion: it is a matter of milliseconds
	open := append([]why.Verdict{why.TwoAtOnce, why.CannotTell}, never...)
	return []Incident{
		{"killed", "the leader's process gets SIGKILL", []why.Cause{why.CauseKilled}, never, nil, nil},
		{"paused", "the leader's process is stopped by SIGSTOP until another leads, and goes on",
			[]why.Cause{why.CausePaused}, never, nil, nil},
		{"cut-link", "the leader's link is cut, so that both ends see it, and healed when another leads",
			[]why.Cause{why.CauseConnectionBroken, why.CauseConnectionClosed}, never, nil, nil},
		{"cut-briefly", "the leader's link is cut, and healed at once",
			[]why.Cause{why.CauseConnectionBroken, why.CauseConnectionClosed}, never, nil, nil},
		{"silent-link", "nothing arrives on the leader's link any more, either way, until another leads",
			[]why.Cause{why.CauseSilent}, never, nil, nil},
		{"operators-deletion", "an operator deletes the leader's node", []why.Cause{why.CauseDeleted}, open, nil, nil},
		{"eviction", "a client that records its log evicts the leader", []why.Cause{why.CauseEvicted}, open, nil, nil},
		{"resigned", "the leader resigns", []why.Cause{why.CauseResigned}, never, nil, nil},
		{"rolling-restart", "the leader is closed and started again, then the next", []why.Cause{why.CauseClosed},
			never, nil, nil},
		{"forgotten-release", "the leader is closed, and its work does not return for long",
			[]why.Cause{why.CauseClosed}, never, []why.Cause{why.CauseForgottenRelease}, nil},
		{"unhealthy", "the leader's health check fails", []why.Cause{why.CauseUnhealthy}, never, nil, nil},
		{"unreadable-directory", "a participant may not list the line when the leader is closed",
			[]why.Cause{why.CauseClosed}, never, []why.Cause{why.CauseNoRights, why.CauseGivenUp}, nil},
		{"unreadable-node", "the leader may not read its own node any more", []why.Cause{why.CauseNoRights}, never,
			[]why.Cause{why.CauseNoRights, why.CauseGivenUp}, nil},
		{"hung-writer", "the leader's recorder hangs; later the leader is closed", []why.Cause{why.CauseGap},
			[]why.Verdict{why.CannotTell}, nil, nil},
		{"clock-set", "the leader's wall clock is set forward by an hour, then its process gets SIGKILL; it starts " +
			"again, leads, and its clock is set back", []why.Cause{why.CauseKilled}, never, nil,
			[]string{"alice's wall clock was set forward by 1h0m0s", "alice-2's wall clock was set back by 1h0m0s",
				"alice-2's own clock was 1h0m0s ahead"}},
		{"server-restart", "the one server is killed and started again",
			[]why.Cause{why.CauseConnectionClosed, why.CauseConnectionBroken}, never, nil, nil},
		{"restored-backup", "the one server is stopped, gets older data, and starts again",
			[]why.Cause{why.CauseConnectionClosed, why.CauseConnectionBroken}, open, nil, nil},
		{"cut-off-follower", "the leader's server, a follower, hears no other server any more",
			[]why.Cause{why.CauseServerCutOff, why.CauseUnconfirmed, why.CauseSlowEnsemble, why.CauseSilent},
			never, nil, nil},
		{"deposed-leader", "the ensemble's leader, where the leader is connected, hears no other server any more",
			[]why.Cause{why.CauseServerCutOff, why.CauseUnconfirmed, why.CauseConnectionClosed, why.CauseSlowEnsemble},
			never, nil, nil},
		{"frozen-server", "the ensemble's leader, where the leader is connected, is stopped by SIGSTOP",
			[]why.Cause{why.CauseSilent, why.CauseSlowEnsemble, why.CauseServerCutOff}, never, nil, nil},
		{"slow-ensemble", "acknowledgements between the servers take longer than belief lasts",
			[]why.Cause{why.CauseSlowEnsemble, why.CauseUnconfirmed}, never, nil, nil},
	}
}

// Read reads the logs of a directory, and the transaction logs in its folder txnlog.
func Read(dir string) (logs []*why.Log, txns []txnlog.Txn, err error) {
	return ReadThrough(dir, func(_ events.Header, r why.Reader) why.Reader { return r })
}

// ReadThrough is Read, and each log's records go through the reader that through returns.
func ReadThrough(dir string,
	through func(events.Header, why.Reader) why.Reader) (logs []*why.Log, txns []txnlog.Txn, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.log.gz"))
	if err != nil || len(files) == 0 {
		return nil, nil, fmt.Errorf("%s has no logs: %w", dir, err)
	}
	for _, file := range files {
		b, err := unzip(file)
		if err != nil {
			return nil, nil, err
		}
		r, err := events.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", file, err)
		}
		l, err := why.Read(strings.TrimSuffix(filepath.Base(file), ".log.gz"), r.Header, through(r.Header, r))
		if err != nil {
			return nil, nil, err
		}
		logs = append(logs, l)
	}
	files, err = filepath.Glob(filepath.Join(dir, "txnlog", "*.gz"))
	if err != nil {
		return nil, nil, err
	}
	var all [][]txnlog.Txn
	for _, file := range files {
		b, err := unzip(file)
		if err != nil {
			return nil, nil, err
		}
		some, err := txnlog.Parse(b)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, some)
	}
	txns, err = txnlog.Merge(all...)
	return logs, txns, err
}

// ReadCommands reads the logs of the commands that elect ran, of a directory.
func ReadCommands(dir string) (all [][]events.CommandLine, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.commands.gz"))
	for _, file := range files {
		b, err := unzip(file)
		if err != nil {
			return nil, err
		}
		lines, err := events.ReadCommandLines(bytes.NewReader(b))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, lines)
	}
	return all, err
}

func unzip(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return io.ReadAll(z)
}

// Misfit returns what is wrong with a report of an incident, "" for nothing.
func (i Incident) Misfit(r *why.Report) string {
	fits := false
	for _, v := range i.Verdicts {
		fits = fits || v == r.Verdict
	}
	for _, c := range i.Also {
		if !slices.ContainsFunc(r.Moves, func(m why.Move) bool { return slices.Contains(m.Also, c) }) {
			return fmt.Sprintf("no move was delayed by %q", c)
		}
	}
	for _, text := range i.Doubts {
		if !slices.ContainsFunc(r.Doubts, func(d why.Sentence) bool { return strings.Contains(d.Text, text) }) {
			return fmt.Sprintf("no doubt says %q: %q", text, r.Doubts)
		}
	}
	if !fits {
		return fmt.Sprintf("the verdict is %q (%s), want one of %q", r.Verdict, r.Why, i.Verdicts)
	}
	for _, m := range r.Moves {
		if m.From == nil {
			continue
		}
		for _, c := range i.Causes {
			if m.Ending.Cause == c {
				return ""
			}
		}
		return fmt.Sprintf("the first loss has the cause %q (%s), want one of %q", m.Ending.Cause,
			m.Ending.Text, i.Causes)
	}
	return "there is no loss"
}
