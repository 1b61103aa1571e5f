package incumbent

import (
	"errors"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/segments"
)

// RecordSync says when the flight log is forced to the disk. It is for the loss of power:
// what was written survives the end of the process in any case.
type RecordSync int

// The values of RecordSync.
const (
	SyncNever  RecordSync = iota // the operating system decides
	SyncTerms                    // when a term begins or ends
	SyncAlways                   // after each write
)

// RecordOptions are the settings of RecordIn. The zero value is a good one.
type RecordOptions struct {
	// Segment is how many bytes a file has, before it is compressed, when the next one
	// begins. Twice the bytes of the checkpoints in the file are added. Default 16 MiB, at
	// least 64 KiB, at most 1 TiB.
	Segment int64
	// Keep is how many bytes all files of the directory may have, those of other clients
	// and of earlier runs included. If they have more, the oldest are deleted. Default
	// 256 MiB, or twice Segment if that is more; at least twice Segment; -1 deletes none.
	// Each file but the first begins with a checkpoint, the state of all machines, unless
	// that has more than an eighth of Keep.
	Keep int64
	// Sync says when the flight log is forced to the disk. Default SyncNever.
	Sync RecordSync
	// Ring, if it is not 0, is how many of the last records are kept, in memory only. They
	// are written into a new file of the directory when a leadership is lost, and by
	// Client.SaveRecord. Open only tries whether a file can be created, and the log says if
	// not. Up to twice as many records are kept, or twice the number of handles if that is
	// more, because the file begins with a checkpoint, which is copied no more often. At most
	// 1,000,000.
	Ring int
}

// RecordDir is a directory for the flight log of one client: see RecordIn.
type RecordDir struct {
	path    string
	options RecordOptions
	taken   atomic.Bool
}

// RecordIn returns a value for Config.Record with which a client writes its flight log into
// a directory: see docs/flight-log.md. Several clients and processes may share the directory,
// but each client needs a RecordIn of its own.
//
// RecordIn checks nothing. Open creates the directory if it is missing. It returns an error
// if the directory is a file or cannot be created, if an option is wrong, and if another
// client has the RecordDir. A relative path is one from the working directory of Open.
//
// Each client begins a new file, which only its owner can read. A file is compressed when it
// has ended, and the oldest files of the directory are deleted. If the directory cannot be
// written, as when the disk is full, leadership goes on. Records are dropped, and every 5 s
// the client tries another file. Client.Recording and the log say so.
func RecordIn(dir string, options RecordOptions) *RecordDir {
	return &RecordDir{path: dir, options: options}
}

// Write always fails: Open takes a RecordDir in another way.
func (d *RecordDir) Write([]byte) (int, error) {
	return 0, errors.New("incumbent: a RecordDir is only for Config.Record")
}

// withDefaults sets what is not given, and refuses what cannot be right.
func (o RecordOptions) withDefaults() (RecordOptions, error) {
	const minSegment, maxSegment, maxRing = 64 << 10, 1 << 40, 1_000_000
	o.Segment = orDefault(o.Segment, 16<<20)
	if o.Segment > maxSegment {
		return o, errors.New("RecordOptions.Segment is more than 1 TiB: give less, 16 MiB by default")
	}
	o.Keep = orDefault(o.Keep, max(256<<20, 2*o.Segment))
	switch {
	case o.Segment < minSegment:
		return o, errors.New("RecordOptions.Segment is less than 64 KiB: give 64 KiB or more, 16 MiB by default")
	case o.Keep != -1 && o.Keep < 2*o.Segment:
		return o, errors.New("RecordOptions.Keep is less than two segments: give more, or -1 to keep all")
	case o.Sync < SyncNever || o.Sync > SyncAlways:
		return o, errors.New("RecordOptions.Sync is unknown: give SyncNever, SyncTerms or SyncAlways")
	case o.Ring < 0 || o.Ring > maxRing:
		return o, errors.New("RecordOptions.Ring is out of range: give from 1 to 1000000 records, 0 to write all of them")
	}
	return o, nil
}

// dirOutput writes segments into a directory.
type dirOutput struct {
	dir     *segments.Dir
	options RecordOptions
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

func newDirOutput(path string, o RecordOptions, h events.Header, now func() int64, granted func() time.Duration) (*dirOutput, error) {
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
func (o RecordOptions) checkpointRoom() int64 {
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
