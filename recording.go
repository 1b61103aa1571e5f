package incumbent

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/segments"
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

// startRecording starts what Config.Record asks for.
func (c *Client) startRecording() (engine.Recorder, error) {
	d, isDir := c.config.Record.(*RecordDir)
	if !isDir {
		out := newWriterOutput(c.config.Record, c.header(), c.clock.Now)
		r, err := newRecorder(out, c.log, c.clock.Now, c.recordRoom())
		if err != nil {
			return nil, err
		}
		c.recorder = r
		return r.record, nil
	}
	if d == nil || d.path == "" {
		return nil, errors.New("RecordIn has no directory: name one")
	}
	options, err := d.options.withDefaults()
	if err != nil {
		return nil, err
	}
	if d.taken.Swap(true) {
		return nil, errors.New("the RecordDir belongs to another client already: call RecordIn for each")
	}
	record, err := c.recordInto(d.path, options)
	if err != nil {
		d.taken.Store(false)
	}
	return record, err
}

// recordRoom returns how many bytes of records may wait for Config.Record.
func (c *Client) recordRoom() int { return orDefault(c.sources.RecordRoom, recordRoom) }

// recordInto starts what RecordIn asks for.
func (c *Client) recordInto(path string, o RecordOptions) (engine.Recorder, error) {
	path, err := segments.Abs(path) // the program may go to another directory
	if err != nil {
		return nil, err
	}
	if o.Ring > 0 {
		if c.ring, err = newRing(path, o, ringUse{
			header: c.header(), log: c.log, granted: c.granted,
			checkpoint: func(begin func(uint64), take func(engine.Checkpoint)) bool {
				return c.loop.Checkpoint(begin, take) // there is no loop yet
			},
		}); err != nil {
			return nil, err
		}
		return c.ring.record, nil
	}
	out, err := newDirOutput(path, o, c.header(), c.clock.Now, c.granted)
	if err != nil {
		return nil, err
	}
	if c.recorder, err = newRecorder(out, c.log, c.clock.Now, c.recordRoom()); err != nil {
		return nil, err
	}
	c.recorder.delay = orDefault(c.sources.RecordDelay, recordDelay)
	return c.recorder.record, nil
}

// granted returns the session timeout that a server granted, 0 before.
func (c *Client) granted() time.Duration {
	if a := c.attached.Load(); a != nil {
		return a.granted
	}
	return 0
}

// DumpRecord writes the last records to w, as a flight log that "incumbent replay" and
// "incumbent why" read. It returns an error if RecordOptions.Ring is not set, or if w
// returns one. It blocks only as long as w does, is safe for concurrent use, and works after
// Close, too.
func (c *Client) DumpRecord(w io.Writer) error {
	c.opened()
	switch {
	case c.ring == nil:
		return errors.New("incumbent: DumpRecord needs a Config.Record by RecordIn with RecordOptions.Ring")
	case w == nil:
		return errors.New("incumbent: DumpRecord needs a writer, as os.Stderr")
	}
	if err := c.ring.dump(w, "asked for", math.MaxInt64); err != nil {
		return fmt.Errorf("incumbent: DumpRecord: %w", err)
	}
	return nil
}

// SaveRecord does the same as DumpRecord, into a new file in the directory of RecordIn, and
// returns the file's path. The file says why it was written, in up to 1000 bytes. It returns when the file is
// compressed, and old files are deleted as RecordOptions.Keep says. Its errors are those of
// DumpRecord, and the file system's.
func (c *Client) SaveRecord(why string) (string, error) {
	c.opened()
	if c.ring == nil {
		return "", errors.New("incumbent: SaveRecord needs a Config.Record by RecordIn with RecordOptions.Ring")
	}
	name, err := c.ring.save(why)
	if err != nil {
		return "", fmt.Errorf("incumbent: SaveRecord: %w", err)
	}
	return name, nil
}
