package incumbent

import (
	"errors"
	"fmt"
)

// handleWords has what a kind of handle says of itself. A handle has one value of it, and no
// function for each: a process may have very many handles.
type handleWords interface {
	// logTrouble logs a failure.
	logTrouble(error)
	// remains names what a close leaves behind if it gives up waiting.
	remains() string
	// overdue returns what has not returned long after it had to; nil if nothing has to.
	overdue() error
	// waitsFor returns what the machine waits for, if it is connected and nothing failed.
	waitsFor() error
}

// plainWords are those of a handle that is no participant in a line.
type plainWords struct{ h *handle }

func (w plainWords) logTrouble(err error) { w.h.logFailure(err) }
func (w plainWords) remains() string      { return "its node" }
func (w plainWords) overdue() error       { return nil }
func (w plainWords) waitsFor() error      { return w.h.phaseInWords() }

// lineWords are those of a participant in a line.
type lineWords struct{ p *participant }

func (w lineWords) logTrouble(err error) { w.p.logLineTrouble(err) }
func (w lineWords) remains() string      { return w.p.leftover() }
func (w lineWords) overdue() error       { return w.p.overdueWork() }
func (w lineWords) waitsFor() error      { return w.p.placeInWords() }

// jobWords are those of a Job's election. What is wrong with the job's configuration its instance logs.
type jobWords struct{ p *participant }

func (w jobWords) logTrouble(err error) {
	if !errors.Is(err, ErrJobConfig) {
		w.p.logLineTrouble(err)
	}
}

func (w jobWords) remains() string { return w.p.leftover() }
func (w jobWords) overdue() error  { return w.p.overdueWork() }
func (w jobWords) waitsFor() error { return w.p.placeInWords() }

// permitWords are those of an acquisition of a semaphore's permits.
type permitWords struct{ h *holdHandle }

func (w permitWords) logTrouble(err error) { w.h.logLineTrouble(err) }
func (w permitWords) remains() string      { return w.h.leftover() }
func (w permitWords) overdue() error       { return w.h.overdueWork() }
func (w permitWords) waitsFor() error      { return w.h.permitsInWords() }

// barrierWords are those of a double barrier for so many members.
type barrierWords struct {
	h        *handle
	quantity int
}

func (w barrierWords) logTrouble(err error) { w.h.logFailure(err) }
func (w barrierWords) remains() string      { return "its node" }
func (w barrierWords) overdue() error       { return nil }

func (w barrierWords) waitsFor() error {
	if *w.h.phase.Load() == "waiting" {
		return fmt.Errorf("fewer than %d members are there", w.quantity)
	}
	return w.h.phaseInWords()
}

// remainWords are those of a handle whose close leaves something else behind than a node of its own.
type remainWords struct {
	h    *handle
	what string
}

func (w remainWords) logTrouble(err error) { w.h.logFailure(err) }
func (w remainWords) remains() string      { return w.what }
func (w remainWords) overdue() error       { return nil }
func (w remainWords) waitsFor() error      { return w.h.phaseInWords() }
