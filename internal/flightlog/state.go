package flightlog

// State is how a recorder is at this moment.
type State struct {
	Segment string
	Records uint64
	Bytes   uint64
	Dropped uint64
	Gaps    uint64
	Err     error
}

// State returns how the recorder is now. It is safe to call from any goroutine.
func (r *Recorder) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := State{
		Segment: r.out.segment(), Records: r.written, Bytes: r.out.bytes(), Dropped: r.dropped,
		Gaps: r.gaps, Err: r.err,
	}
	switch {
	case r.err != nil:
		s.Dropped = r.seen - r.written
	case r.broken != nil:
		s.Err = r.broken
	}
	return s
}
