package incumbent

import (
	"fmt"
	"io"
	"sync/atomic"
)

// Recording is how the flight recorder's log is doing: see Client.Recording.
type Recording struct {
	Records uint64 // what Config.Record has taken, without records that are buffered
	Bytes   uint64 // how many bytes that was, with the header and gaps
	Dropped uint64 // records that are not in the log: they had no room, or came after Err
	Gaps    uint64 // how many gaps the dropped records make; one that goes on is counted
	Err     error  // why the recording ended; nil while it goes on
}

// Recording returns how the log of Config.Record is doing; all zero where nothing is
// recorded. A log with Gaps replays up to the first.
func (c *Client) Recording() Recording {
	if c.recorder == nil {
		return Recording{}
	}
	return c.recorder.state()
}

func (r *recorder) state() Recording {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := Recording{Records: r.written, Bytes: r.sink.bytes.Load(), Dropped: r.dropped, Gaps: r.gaps, Err: r.err}
	if r.err != nil {
		s.Dropped = r.seen - r.written
	}
	return s
}

// sink is Config.Record as the recorder calls it: it counts, and whatever goes
// wrong in it is an error.
type sink struct {
	w     io.Writer
	bytes atomic.Uint64
}

func (s *sink) Write(b []byte) (n int, err error) {
	defer func() {
		if p := recover(); p != nil {
			n, err = 0, fmt.Errorf("incumbent: Config.Record panicked: %v", p)
		}
	}()
	n, err = s.w.Write(b)
	switch {
	case n < 0 || n > len(b):
		return 0, fmt.Errorf("incumbent: Config.Record says that it took %d of %d bytes", n, len(b))
	case n < len(b) && err == nil:
		err = io.ErrShortWrite
	}
	s.bytes.Add(uint64(n))
	return n, err
}
