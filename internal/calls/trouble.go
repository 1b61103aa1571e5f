package calls

import "sync/atomic"

// Trouble is a handle's current failure, which one goroutine sets and any may ask for. It has memory of its own only
// while there is one: a process may have very many handles.
type Trouble struct{ now atomic.Pointer[trouble] }

type trouble struct {
	err   error
	since int64 // when the present series of failures began; 0: there is none
}

// Err returns the failure; nil if there is none.
func (t *Trouble) Err() error { return t.present().err }

// Set sets the failure; nil ends it.
func (t *Trouble) Set(err error) { t.set(trouble{err, t.present().since}) }

// Begin begins a series of failures at this time, unless one has begun.
func (t *Trouble) Begin(now int64) {
	if is := t.present(); is.since == 0 {
		t.set(trouble{is.err, now})
	}
}

// End ends the series, and returns when it began; 0 if there was none.
func (t *Trouble) End() (since int64) {
	is := t.present()
	t.set(trouble{err: is.err})
	return is.since
}

func (t *Trouble) present() trouble {
	if now := t.now.Load(); now != nil {
		return *now
	}
	return trouble{}
}

func (t *Trouble) set(now trouble) {
	if now == (trouble{}) {
		t.now.Store(nil)
		return
	}
	t.now.Store(&now)
}
