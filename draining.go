package incumbent

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/journal"
)

// A term that has ended is followed by nothing while work under it has not returned: no new
// term begins, the node is not deleted, and Close waits. So a Release that was forgotten
// takes a participant out of its line. What is here names such work.

// leastOverdue is the least time that work may go on, after it has to end, before the log
// has a warning, and Err an error.
const leastOverdue = 5 * time.Second

// expectReturn begins the wait for the work's return: the reason why it has to return is
// known. The caller holds the lock.
func (t *heldTerm) expectReturn(why string) {
	t.why = why
	if len(t.works) == 0 || t.timer != nil {
		return
	}
	t.timer = time.AfterFunc(max(t.holder.client.timeout(), leastOverdue), t.warn)
}

// allReturned ends the wait for the work's return. The caller holds the lock.
func (t *heldTerm) allReturned() {
	if t.timer != nil {
		t.timer.Stop()
	}
	t.timer, t.overdue = nil, false
}

// warn logs which work has not returned, once for each term; Err has it from now on.
func (t *heldTerm) warn() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.works) == 0 { // it returned in the same moment
		return
	}
	t.overdue = true
	place, err := t.firstWork().place(), t.unreturned()
	t.holder.client.log.Log(zerolog.WarnLevel, "work goes on long after it had to end", func(e *zerolog.Event) {
		journal.AddErr(e.Str("path", fault.Path(t.holder.path)).Int64("token", t.Token).Str("place", place), err)
	})
	t.holder.client.observed.emitAside(WorkOverdue{t.place(), err})
}

// firstWork returns the work that has not returned and was given out first, nil if there is
// none. The caller holds the lock.
func (t *heldTerm) firstWork() (first *Leadership) {
	for l, number := range t.works {
		if first == nil || number < t.works[first] {
			first = l
		}
	}
	return first
}

// unreturned returns an error that says which work has not returned, and what to do; nil if
// there is none. The caller holds the lock.
func (t *heldTerm) unreturned() error {
	l := t.firstWork()
	if l == nil {
		return nil
	}
	ended, since := "", ""
	if t.why != "" {
		ended, since = fmt.Sprintf(" has ended (%s) and", t.why), fmt.Sprintf(" since its context ended (%s)", t.why)
	}
	text, then := "", "this participant does not queue again, and its node is not deleted"
	switch {
	case l.work != nil:
		text = fmt.Sprintf("the work %s under token %d has not returned%s: it must return when its context ends", l.place(), t.Token, since)
	case t.holder.holdsOnce():
		hold := "lock"
		if t.holder.what == whatPermits {
			hold = "hold of permits"
		}
		text = fmt.Sprintf("the %s with token %d that was given out at %s%s is not unlocked: call its Unlock", hold, t.Token, l.place(), ended)
	default:
		text = fmt.Sprintf("the Leadership with token %d that was given out at %s%s is not released: call its Release", t.Token, l.place(), ended)
	}
	if t.holder.holdsOnce() || t.holder.works.IsSealed() {
		then = "its node is not deleted, and Close waits"
	}
	text = fmt.Sprintf("incumbent: %s: %s; until then %s", t.holder.path, text, then)
	if more := len(t.works) - 1; more > 0 {
		text += fmt.Sprintf(" (the same for %d more)", more)
	}
	return fault.Because(text, ErrWorkRunning)
}

// unreleased returns an error that names work which has to return, or a Leadership or Hold
// which has to be released, before the participant goes on; nil if there is none. It is
// ErrWorkRunning.
func (p *participant) unreleased() error {
	t := p.lastTerm()
	if t == nil || !p.works.Running() {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped == nil && !p.works.IsSealed() {
		return nil
	}
	if err := t.unreturned(); err != nil {
		return err
	}
	return ErrWorkRunning // granted, and not given out yet
}

// overdueWork returns what unreleased does once the log has had its warning; nil before
// that, and when the work has returned.
func (p *participant) overdueWork() error {
	t := p.lastTerm()
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.overdue {
		return nil
	}
	return t.unreturned()
}

func (p *participant) lastTerm() *heldTerm {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// callers returns the stack of the present call, without the names, which take longer.
func callers() []uintptr {
	var pcs [24]uintptr
	n := runtime.Callers(2, pcs[:])
	return append([]uintptr(nil), pcs[:n]...)
}

// place returns where the program asked for the Leadership, as "main.go:34 (main.lead)", or
// the function that was called with it, as "main.work (main.go:50)".
func (l *Leadership) place() string {
	if l.work != nil {
		return functionPlace(l.work)
	}
	frames := runtime.CallersFrames(l.from)
	for {
		frame, more := frames.Next()
		// The tests of this package are callers, too.
		if ours := strings.HasPrefix(frame.Function, ownPackage); !ours || strings.HasSuffix(frame.File, "_test.go") {
			return fmt.Sprintf("%s:%d (%s)", afterSlash(frame.File), frame.Line, afterSlash(frame.Function))
		}
		if !more {
			return "an unknown place"
		}
	}
}

// afterSlash returns the name of a file without its directory, or of a function without the
// path before its package's name.
func afterSlash(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// functionPlace returns the name of a function and where it is, as "main.work (main.go:50)".
// A method value has a name only.
func functionPlace(f any) string {
	function := runtime.FuncForPC(reflect.ValueOf(f).Pointer())
	name, isMethod := strings.CutSuffix(afterSlash(function.Name()), "-fm")
	if isMethod {
		return name
	}
	file, line := function.FileLine(function.Entry())
	return fmt.Sprintf("%s (%s:%d)", name, afterSlash(file), line)
}
