package calls

// Trouble is a handle's current failure, which the handle's lock guards. It has memory of its own only while there is
// one: a process may have very many handles.
type Trouble struct{ now *trouble }

type trouble struct {
	err   error
	since int64 // when the present series of failures began; 0: there is none
}

// Err returns the failure; nil if there is none.
func (t *Trouble) Err() error {
	if t.now == nil {
		return nil
	}
	return t.now.err
}

// Set sets the failure; nil ends it.
func (t *Trouble) Set(err error) {
	switch {
	case err == nil && (t.now == nil || t.now.since == 0):
		t.now = nil
	default:
		t.made().err = err
	}
}

// Begin begins a series of failures at this time, unless one has begun.
func (t *Trouble) Begin(now int64) {
	if t.made().since == 0 {
		t.now.since = now
	}
}

// End ends the series, and returns when it began; 0 if there was none.
func (t *Trouble) End() (since int64) {
	if t.now != nil {
		since, t.now.since = t.now.since, 0
	}
	return since
}

func (t *Trouble) made() *trouble {
	if t.now == nil {
		t.now = &trouble{}
	}
	return t.now
}
