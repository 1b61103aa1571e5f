package flightlog

import (
	"errors"
	"math"
	"os"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/segments"
)

// Sync says when a file is forced to the disk.
type Sync int

const (
	SyncNever  Sync = iota // the operating system decides
	SyncTerms              // when a term begins or ends
	SyncAlways             // after each write
)

// DirOptions are the settings of a directory, as RecordOptions has them: all of them are set.
type DirOptions struct {
	Segment, Keep int64
	Sync          Sync
	Ring          int
}

// dirOutput writes segments into a directory.
type dirOutput struct {
	dir     *segments.Dir
	options DirOptions
	header  events.Header
	granted func() time.Duration
	clocks  clockNotes

	file    *segments.File // nil: none is open
	w       *events.Writer
	number  int    // of the segment
	sum     string // of the segment before, if it has an end
	good    int64  // bytes of the file that are flushed
	head    int64  // bytes of its checkpoints
	term    bool   // a term began or ended in what is not flushed
	checked int64  // when the file was there last, by the loop's clock

	mu    sync.Mutex
	last  uint64
	total uint64
	name  string
}

// NewDirOutput returns an output that writes files into a directory. Granted returns the session timeout that a server
// granted, 0 before. The error says what is wrong with the path.
func NewDirOutput(
	path string, o DirOptions, h events.Header, now func() int64, granted func() time.Duration,
) (Output, error) {
	dir, err := openSegments(path, o.Keep, h)
	if err != nil {
		return nil, err
	}
	return &dirOutput{dir: dir, options: o, header: h, granted: granted, clocks: clockNotes{now: now}}, nil
}

func openSegments(path string, keep int64, h events.Header) (*segments.Dir, error) {
	start, err := time.Parse(time.RFC3339Nano, h.Start)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		return nil, fault.Because("RecordIn: "+path+" is no directory: name one, or remove it first", os.ErrExist)
	}
	if _, linked := os.Lstat(path); err != nil && linked == nil {
		return nil,
			fault.Because("RecordIn: the symbolic link "+path+" leads to no directory: create that, or remove "+
				"the link: "+err.Error(), err)
	}
	return segments.Open(path, segments.Stem(start, h.Host, h.PID), keep)
}

func (o *dirOutput) begin(before uint64) (err error) {
	if o.file, err = o.dir.Create(o.number + 1); err != nil {
		return err
	}
	o.number++
	o.clocks.begin()
	h := o.header
	h.Segment, h.Before, h.After, h.GrantedTimeout = o.number, before, o.sum, int64(o.granted())
	if o.number > 1 {
		h.Start, h.StartAt = time.Now().UTC().Format(time.RFC3339Nano), o.clocks.now()
	}
	o.sum, o.good, o.head, o.checked = "", 0, 0, o.clocks.now()
	o.mu.Lock()
	o.name = o.file.Name()
	o.mu.Unlock()
	if o.w, err = events.NewWriter(o.file, h); err != nil {
		return err
	}
	return o.flush()
}

func (o *dirOutput) write(one recorded) error {
	o.term = o.term || o.options.Sync == SyncTerms && hasTerm(one.step)
	if one.note != nil && one.note.Checkpoint != nil {
		o.head += int64(len(one.note.Checkpoint.State))
	}
	return writeEntry(o.w, &o.clocks, one)
}

// hasTerm reports whether a term begins or ends in a step.
func hasTerm(step []events.Record) bool {
	for i := range step {
		for _, effect := range step[i].Effects {
			if n, ok := effect.(events.Notify); ok && (n.What == events.Elected || n.What == events.Stopped) {
				return true
			}
		}
	}
	return false
}

func (o *dirOutput) flush() error {
	if err := o.w.Flush(); err != nil {
		return err
	}
	o.clocks.asked = false
	if o.term || o.options.Sync == SyncAlways {
		if err := o.file.Sync(); err != nil {
			return err
		}
		o.term = false
	}
	if now := o.clocks.now(); now-o.checked >= checkEvery {
		o.checked = now
		if err := o.missing(); err != nil {
			return err
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.total += uint64(o.file.Size() - o.good)
	o.good, o.last = o.file.Size(), o.w.Last()
	return nil
}

// checkEvery is how often a flush asks whether the file is still there: a question costs two calls of
// the system.
const checkEvery = int64(time.Second)

// missing returns an error if nobody can find the file by its name.
func (o *dirOutput) missing() error {
	if o.file.Vanished() {
		return errors.New(o.file.Name() + " was deleted or renamed while it was written")
	}
	return nil
}

// due adds what the segment begins with: it should be much longer than its checkpoint.
func (o *dirOutput) due() bool { return o.good >= o.options.Segment+2*o.head }

func (o *dirOutput) room() int64 { return o.options.checkpointRoom() }

// checkpointRoom returns how many bytes a checkpoint may have: a directory has several.
func (o DirOptions) checkpointRoom() int64 {
	if o.Keep == -1 {
		return math.MaxInt64
	}
	return o.Keep / 8
}

func (o *dirOutput) rotate() error { return o.finish(events.EndRotated) }

// finish writes the last line of a segment, and closes it.
func (o *dirOutput) finish(why string) error {
	if err := o.w.WriteEnd(why); err != nil {
		return err
	}
	if err := o.flush(); err != nil {
		return err
	}
	if err := o.missing(); err != nil {
		return err
	}
	o.sum = o.w.Sum()
	file := o.file
	o.file = nil
	return file.Close()
}

// discard closes the file, and cuts off what is not whole. It returns true: the directory
// may be written again later.
func (o *dirOutput) discard() bool {
	o.term = false
	if o.file == nil {
		return true
	}
	if o.good == 0 {
		o.number--
	}
	_ = o.file.Discard(o.good) // the reader drops a torn line, too
	o.file = nil
	return true
}

func (o *dirOutput) end(why string) error {
	err := o.finish(why)
	if err != nil {
		o.discard()
	}
	o.dir.Wait()
	return err
}

func (o *dirOutput) safe() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last
}

func (o *dirOutput) bytes() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.total
}

func (o *dirOutput) segment() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.name
}
