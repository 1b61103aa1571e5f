package door_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// logLine is one line of the log.
type logLine map[string]any

func (l logLine) text() string    { return l["message"].(string) }
func (l logLine) level() string   { return l["level"].(string) }
func (l logLine) ms(k string) int { return int(l[k].(float64)) }

func (l logLine) instant(t *testing.T, key string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, fmt.Sprint(l[key]))
	if err != nil || !strings.Contains(fmt.Sprint(l[key]), ".") {
		t.Errorf("%s is %v, want an instant with milliseconds (%v)", key, l[key], err)
	}
	return at
}

// String is the line's level and text, and the state or reason, if it has one.
func (l logLine) String() string {
	parts := []string{l.level(), l.text()}
	for _, key := range []string{"state", "reason"} {
		if v, ok := l[key]; ok {
			parts = append(parts, fmt.Sprint(v))
		}
	}
	return strings.Join(parts, " ")
}

// parsed returns the lines so far. Each has the level and the keys that docs/operations.md
// lists, and the client's name.
func (l *lines) parsed(t *testing.T) (all []logLine) {
	t.Helper()
	synctest.Wait()
	rows := documented(t)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, text := range l.all {
		line := logLine{}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if line["client"] != "jobs" {
			t.Errorf("no name of the client: %s", text)
		}
		if len(line) == 3 && line.level() == "warn" { // a sentence about a setting
			continue
		}
		if !slices.ContainsFunc(rows, func(r row) bool { return r.fits(line) }) {
			t.Errorf("docs/operations.md has no such line: %s", text)
		}
		all = append(all, line)
	}
	return all
}

// loud returns the lines at info and above, without attempts to connect that failed and
// work that goes on.
func (l *lines) loud(t *testing.T) []logLine {
	t.Helper()
	return slices.DeleteFunc(l.parsed(t), func(l logLine) bool {
		return l.level() == "debug" || slices.Contains([]string{"not connected",
			"work goes on long after it had to end"}, l.text())
	})
}

// want compares the lines at info and above.
func (l *lines) want(t *testing.T, want ...string) []logLine {
	t.Helper()
	all := l.loud(t)
	var got []string
	for _, one := range all {
		got = append(got, one.String())
	}
	if !slices.Equal(got, want) {
		t.Fatalf("the log has\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
	return all
}

// row is one row of the table in docs/operations.md.
type row struct {
	texts    []string
	levels   string
	required []string
	optional []string
}

var code = regexp.MustCompile("`([^`]+)`")

// documented returns the rows of the table of the log's lines.
func documented(t *testing.T) (rows []row) {
	t.Helper()
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "| line | level | keys |\n|---|---|---|\n")
	table, _, ended := strings.Cut(table, "\n\n")
	if !found || !ended {
		t.Fatal("docs/operations.md has no table of the log's lines")
	}
	for _, line := range strings.Split(table, "\n") {
		cells := strings.Split(line, " | ")
		r := row{levels: cells[1]}
		for _, m := range code.FindAllStringSubmatch(cells[0], -1) {
			r.texts = append(r.texts, m[1])
		}
		for _, m := range code.FindAllStringSubmatch(cells[2], -1) {
			if key, optional := strings.CutSuffix(m[1], "?"); optional {
				r.optional = append(r.optional, key)
			} else {
				r.required = append(r.required, key)
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// fits reports whether a line has the row's text, one of its levels, and exactly its keys.
func (r row) fits(l logLine) bool {
	keys := maps.Clone(l)
	for _, key := range []string{"level", "message", "client"} {
		delete(keys, key)
	}
	for _, key := range r.required {
		if _, has := keys[key]; !has {
			return false
		}
		delete(keys, key)
	}
	for _, key := range r.optional {
		delete(keys, key)
	}
	return len(keys) == 0 && slices.Contains(r.texts, l.text()) && strings.Contains(r.levels, l.level())
}

// logInto makes a client's log the test's.
func logInto(log *lines) func(*incumbent.Config) {
	return func(c *incumbent.Config) { c.Name, c.Logger = "jobs", zerolog.New(log) }
}

// hexSession is ZooKeeper's id of the session that owns the latch's node, as status prints it.
func (n *node) hexSession() string { return fmt.Sprintf("0x%x", uint64(n.session())) }

// notLeading returns a channel that gets the error of NotLeader.
func (n *node) notLeading() chan error {
	why := make(chan error, 10)
	n.latch.AddListener(incumbent.Listener{NotLeader: func(_ incumbent.Term, err error) { why <- err }})
	return why
}

// lostErr returns the LostError in an error.
func lostErr(t *testing.T, err error, reason incumbent.Reason) *incumbent.LostError {
	t.Helper()
	var lost *incumbent.LostError
	if !errors.As(err, &lost) || lost.Reason != reason || incumbent.LostReason(err) != reason ||
		!errors.Is(err, incumbent.ErrLeadershipLost) {
		t.Fatalf("%v: want a LostError that is ErrLeadershipLost, with the reason %q", err, reason)
	}
	return lost
}

// TestEveryLineIsDocumented finds the texts of all lines in the sources.
func TestEveryLineIsDocumented(t *testing.T) {
	var known []string
	for _, r := range documented(t) {
		known = append(known, r.texts...)
	}
	calls := []*regexp.Regexp{ // one each, as only a beginning that is the same everywhere is found fast
		regexp.MustCompile(`(?s)\.Log\(\s*(?:zerolog\.\w+|[^"\n]*),\s+"([^"]+)"`),
		regexp.MustCompile(`return "([a-z ]+)", zerolog`),
		regexp.MustCompile(`troubleText[^"\n]*= (?:true, whatLock, |[^"\n]*, )?"([^"]+)"`),
	}
	panics := regexp.MustCompile(`(?:Guard|LogPanic)\("([^"]+)"`)
	parts := regexp.MustCompile(`" *\+\n\s*"`) // of a text on several lines
	files, behind := must(filepath.Glob("../../*.go")), must(filepath.Glob("../../internal/*/*.go"))
	seen := 0
	for _, name := range append(files, behind...) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text := parts.ReplaceAllString(string(must(os.ReadFile(name))), "")
		var said []string
		for _, call := range calls {
			for _, m := range call.FindAllStringSubmatch(text, -1) {
				said = append(said, m[1])
			}
		}
		for _, m := range panics.FindAllStringSubmatch(text, -1) {
			said = append(said, m[1]+" panicked")
		}
		for _, one := range said {
			if seen++; !slices.Contains(known, one) {
				t.Errorf("docs/operations.md does not have the line %q of %s", one, name)
			}
		}
	}
	t.Logf("%d lines", seen)
	if seen < 25 {
		t.Errorf("only %d lines were found in the sources: the test shows nothing", seen)
	}
}

func TestTheLogOfALostConnection(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log := &lines{}
		n := w.start(logInto(log))
		why, held := n.notLeading(), n.leads()
		pass(time.Minute)
		zkSession, alone, cut := n.hexSession(), held.AloneUntil(), time.Now()
		n.isolate()
		pass(3 * time.Second)
		w.refuse(n, false)
		held.Release()
		pass(10 * time.Second)
		all := log.want(t, "info connection CONNECTED", "info leading", "warn connection SUSPENDED",
			"warn no longer leading suspended", "info connection RECONNECTED", "info leading")
		for _, l := range all {
			if l["zk_session"] != zkSession || l.ms("session") != 1 {
				t.Errorf("%v: session %v, %v, want 1, %s", l, l["session"], l["zk_session"], zkSession)
			}
		}
		if l := all[0]; l["server"] != "192.0.2.1:2181" || l.ms("granted_ms") != 15000 || l["away_ms"] != nil {
			t.Errorf("%v", map[string]any(l))
		}
		if away := all[4].ms("away_ms"); away < 3000 || away > 10000 {
			t.Errorf("away for %d ms, want three seconds and the wait for the next attempt", away)
		}
		if l := all[2]; l["code"] != "CONNECTIONLOSS" || l["server"] != nil {
			t.Errorf("%v", map[string]any(l))
		}
		end := all[3]
		if at := end.instant(t, "believed_until"); !at.Equal(cut) || !at.Before(alone) || end.ms("led_ms") != 60000 {
			t.Errorf("believed until %s, %d ms; want %s, a minute, and before %s", at, end.ms("led_ms"), cut, alone)
		}
		if end["why"] != incumbent.ReasonSuspended.String() || end["path"] != "/line" ||
			end["node"] != held.Term().Path ||
			int64(end.ms("token")) != held.Token() {
			t.Errorf("%v", map[string]any(end))
		}
		text := fmt.Sprintf("incumbent: leadership of /line (token %d) lost: "+
			"the connection ended, perhaps with the session", held.Token())
		for name, err := range map[string]error{"cause": context.Cause(held.Context()), "Check": held.Check(),
			"NotLeader": <-why} {
			lost := lostErr(t, err, incumbent.ReasonSuspended)
			if lost.Error() != text || !lost.BelievedUntil.Equal(cut) || lost.Led != time.Minute ||
				lost.Node != held.Term().Path || errors.Is(err, incumbent.ErrLockLost) {
				t.Errorf("%s: %+v", name, *lost)
			}
		}
	})
}

// The server hears nothing more: belief ends at the deadline, before the session expires.
func TestTheLogOfADeadlineAndAnExpiry(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log := &lines{}
		n := w.start(logInto(log))
		why, held := n.notLeading(), n.leads()
		pass(time.Minute)
		session, until := n.session(), held.ValidUntil()
		w.srv.Freeze(zkmem.Inbound)
		expired := make(chan time.Time, 1)
		go func() {
			_ = w.srv.WaitFor(t.Context(), func(v *zkmem.View) bool {
				return !slices.ContainsFunc(v.Sessions(), func(s zkmem.SessionInfo) bool { return s.ID == session })
			})
			expired <- time.Now()
		}()
		pass(time.Minute)
		all := log.want(t, "info connection CONNECTED", "info leading", "warn no longer leading unconfirmed",
			"warn connection SUSPENDED", "error connection LOST") // its term ended in the same outage
		at, over := all[2].instant(t, "believed_until"), <-expired
		if d := until.Sub(at); d < 0 || d >= time.Millisecond || !at.Before(over) {
			t.Errorf("believed until %s, want %s; the session expired at %s", at, until, over)
		}
		if lost := lostErr(t, <-why, incumbent.ReasonUnconfirmed); !lost.BelievedUntil.Equal(until) {
			t.Errorf("believed until %s, want %s", lost.BelievedUntil, until)
		}
		for _, err := range []error{context.Cause(held.Context()), held.Check()} {
			reason := incumbent.LostReason(err) // the deadline is watched by the loop and by the work's own timer
			if lost := lostErr(t, err, reason); reason != incumbent.ReasonUnconfirmed &&
				reason != incumbent.ReasonLapsed || !lost.BelievedUntil.Equal(until) {
				t.Errorf("%v, believed until %s, want %s", err, lost.BelievedUntil, until)
			}
		}
		held.Release()
		w.srv.Heal()
		pass(time.Minute)
		last := log.loud(t)[5]
		if last.String() != "info connection RECONNECTED" || last.ms("session") != 2 ||
			last["zk_session"] != n.hexSession() || last["zk_session"] == all[0]["zk_session"] {
			t.Errorf("%v", map[string]any(last))
		}
	})
}

// Only a client that led when the outage began writes LOST as an error.
func TestTheLogOfALostSession(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log, other := &lines{}, &lines{}
		n := w.start(logInto(log))
		waiter := w.start(logInto(other))
		pass(time.Minute)
		n.isolate()
		waiter.isolate()
		pass(20 * time.Second)
		log.want(t, "info connection CONNECTED", "info leading", "warn connection SUSPENDED",
			"warn no longer leading suspended", "error connection LOST")
		all := other.want(t, "info connection CONNECTED", "info queued", "warn connection SUSPENDED",
			"warn connection LOST")
		if l := all[1]; l.ms("ahead") != 1 || l["behind"] != n.ownPath() || l["node"] != waiter.ownPath() {
			t.Errorf("%v", map[string]any(l))
		}
		w.refuse(n, false)
		w.refuse(waiter, false)
		pass(time.Minute)
	})
}

// A participant that keeps its node through a reconnect is queued once.
func TestTheLogOfAWaiter(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log := &lines{}
		w.start()
		waiter := w.start(logInto(log))
		pass(time.Minute)
		waiter.cut()
		pass(time.Minute)
		want := []string{"info connection CONNECTED", "info queued", "warn connection SUSPENDED",
			"info connection RECONNECTED"}
		log.want(t, want...)
		if err := w.srv.Delete(waiter.ownPath()); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
		log.want(t, append(want, "info queued")...)
	})
}
