package incumbent

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/usercode"
)

// Recording is the state of the flight recorder's log: see Client.Recording.
type Recording struct {
	Segment string // the path of the file that is written now, of a log in a directory
	Records uint64 // how many records Config.Record has taken; those still buffered do not count
	Bytes   uint64 // how many bytes Config.Record has taken, header and notes included
	Dropped uint64 // how many records are not in the log: for lack of room, too long, lost in a failure, or after Err
	Gaps    uint64 // how many gaps the log has; one that is still open counts
	Err     error  // why the recording ended before the client did, or why a directory cannot be written now; nil otherwise
}

// Recording returns the state of the log of Config.Record. All fields are zero if
// Config.Record is nil. If RecordOptions.Ring is set, all fields but Err are zero, and Err is
// that of the last file, or of Open, which only tries to create one. A log with Gaps is
// replayed up to each gap, and again from the checkpoint that follows it, if there is one.
// Recording is safe for concurrent use.
func (c *Client) Recording() Recording {
	c.opened()
	switch {
	case c.recorder != nil:
		return c.recorder.state()
	case c.ring != nil:
		return Recording{Err: c.ring.failure()}
	}
	return Recording{}
}

func (r *recorder) state() Recording {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := Recording{Segment: r.out.segment(), Records: r.written, Bytes: r.out.bytes(), Dropped: r.dropped, Gaps: r.gaps, Err: r.err}
	switch {
	case r.err != nil:
		s.Dropped = r.seen - r.written
	case r.broken != nil:
		s.Err = r.broken
	}
	return s
}

// sink is Config.Record as the recorder calls it: it counts bytes, and turns a panic or a
// wrong count into an error.
type sink struct {
	w     io.Writer
	bytes atomic.Uint64
}

func (s *sink) Write(b []byte) (n int, err error) {
	err = usercode.Call(func() (err error) { n, err = s.w.Write(b); return err })
	var failed *usercode.Error
	switch {
	case errors.As(err, &failed):
		return 0, fault.Because("incumbent: "+failed.By("Config.Record"), failed)
	case n < 0 || n > len(b):
		return 0, fmt.Errorf("incumbent: Config.Record says that it took %d of %d bytes", n, len(b))
	case n < len(b) && err == nil:
		err = io.ErrShortWrite
	}
	s.bytes.Add(uint64(n))
	return n, err
}

// CreateLog creates a file for Config.Record that only its owner can read. If the file
// exists already, it returns an error that wraps os.ErrExist, because a log begins in an empty
// file. Close the file after Client.Close.
func CreateLog(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil,
			fault.Because(fmt.Sprintf("incumbent: log %s exists already: name another file, or remove it first",
				path), err)
	}
	return f, err
}
