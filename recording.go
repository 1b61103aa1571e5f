package incumbent

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/clock"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/flightlog"
	"github.com/incumbent-go/incumbent/internal/segments"
)

// RecordTo returns a value for Config.Record with which a client writes its flight log to w, as
// JSON Lines, in one piece: into a file of CreateLog, say. One goroutine of its own calls w, so
// w may be slow. If it returns an error or panics, the recording ends. The client does not
// close it. RecordTo checks nothing: Open returns an error if w is nil, and if another client
// has the FlightLog.
func RecordTo(w io.Writer) *FlightLog { return &FlightLog{writer: w} }

// RecordIn returns a value for Config.Record with which a client writes its flight log into
// a directory: see docs/flight-log.md. Several clients and processes may share the directory,
// but each client needs a RecordIn of its own.
//
// RecordIn checks nothing. Open creates the directory if it is missing. It returns an error
// if the directory is a file or cannot be created, if an option is wrong, and if another
// client has the FlightLog. A relative path is one from the working directory of Open.
//
// Each client begins a new file, which only its owner can read. A file is compressed when it
// has ended, and the oldest files of the directory are deleted. If the directory cannot be
// written, as when the disk is full, leadership goes on. Records are dropped, and every 5 s
// the client tries another file. Client.Recording and the log say so.
func RecordIn(dir string, options RecordOptions) *FlightLog {
	return &FlightLog{inDir: true, dir: dir, options: options}
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
		return o, errors.New("RecordOptions.Ring is out of range: give from 1 to 1000000 records, " +
			"0 to write all of them")
	}
	return o, nil
}

// Recording is the state of the flight recorder's log: see Client.Recording.
type Recording struct {
	Segment string // the path of the file that is written now, of a log in a directory
	Records uint64 // how many records Config.Record has taken; those still buffered do not count
	Bytes   uint64 // how many bytes Config.Record has taken, header and notes included
	Dropped uint64 // how many records are not in the log: for lack of room, too long, lost in a failure, or after Err
	Gaps    uint64 // how many gaps the log has; one that is still open counts
	// why the recording ended before the client did, or why a directory cannot be written now; nil otherwise
	Err error
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
		return Recording(c.recorder.State())
	case c.ring != nil:
		return Recording{Err: c.ring.Failure()}
	}
	return Recording{}
}

// CreateLog creates a file for RecordTo that only its owner can read. If the file
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
	log := c.config.Record
	switch {
	case log.inDir && log.dir == "":
		return nil, errors.New("RecordIn has no directory: name one")
	case !log.inDir && log.writer == nil:
		return nil, errors.New("RecordTo has no writer: name one, such as the file of CreateLog")
	}
	options, err := log.options.withDefaults()
	if err != nil {
		return nil, err
	}
	if log.taken.Swap(true) {
		return nil, errors.New("the FlightLog belongs to another client already: call RecordIn or RecordTo for each")
	}
	start := c.recordTo
	if log.inDir {
		start = func() (engine.Recorder, error) { return c.recordInto(log.dir, options) }
	}
	record, err := start()
	if err != nil {
		log.taken.Store(false)
	}
	return record, err
}

// recordTo starts what RecordTo asks for.
func (c *Client) recordTo() (engine.Recorder, error) {
	out := flightlog.NewWriterOutput(c.config.Record.writer, c.header(), c.core.Clock.Now)
	r, err := flightlog.New(out, c.core.Log, c.core.Clock.Now, c.recordRoom())
	if err != nil {
		return nil, err
	}
	c.recorder = r
	return r.Record, nil
}

// recordRoom returns how many bytes of records may wait for Config.Record.
func (c *Client) recordRoom() int { return orDefault(c.sources.RecordRoom, flightlog.Room) }

// recordInto starts what RecordIn asks for.
func (c *Client) recordInto(path string, o RecordOptions) (engine.Recorder, error) {
	path, err := segments.Abs(path) // the program may go to another directory
	if err != nil {
		return nil, err
	}
	granted := func() time.Duration { return c.core.Attached().Granted }
	if o.Ring > 0 {
		if c.ring, err = flightlog.NewRing(path, o.ofDir(), flightlog.RingUse{
			Header: c.header(), Log: c.core.Log, Granted: granted,
			Checkpoint: func(begin func(uint64), take func(engine.Checkpoint)) bool {
				return c.core.Loop.Checkpoint(begin, take) // there is no loop yet
			},
		}); err != nil {
			return nil, err
		}
		return c.ring.Record, nil
	}
	out, err := flightlog.NewDirOutput(path, o.ofDir(), c.header(), c.core.Clock.Now, granted)
	if err != nil {
		return nil, err
	}
	if c.recorder, err = flightlog.New(out, c.core.Log, c.core.Clock.Now, c.recordRoom()); err != nil {
		return nil, err
	}
	c.recorder.Delay = orDefault(c.sources.RecordDelay, flightlog.Delay)
	return c.recorder.Record, nil
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
	if err := c.ring.Dump(w, "asked for", math.MaxInt64); err != nil {
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
	name, err := c.ring.Save(why)
	if err != nil {
		return "", fmt.Errorf("incumbent: SaveRecord: %w", err)
	}
	return name, nil
}

// ofDir returns the options as the recorder has them.
func (o RecordOptions) ofDir() flightlog.DirOptions {
	return flightlog.DirOptions{Segment: o.Segment, Keep: o.Keep, Sync: flightlog.Sync(o.Sync), Ring: o.Ring}
}

// header describes this program and its settings. It holds no secret.
func (c *Client) header() events.Header {
	h := events.Header{
		Library: "incumbent " + version(),
		Go:      runtime.Version(),
		Options: c.config.options(),
		Start:   time.Now().UTC().Format(time.RFC3339Nano),
		StartAt: c.core.Clock.Now(),

		Run: newSeed(), Name: c.config.Name, Host: host(), Boot: bootID(), PID: os.Getpid(), Clock: clock.Name(),
		Servers: serversOf(c.config.Servers), AskedTimeout: int64(c.config.SessionTimeout),
	}
	h.Program, h.ProgramVersion = program()
	return h
}

func host() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}

// bootID returns the kernel's id of this boot, "" if there is none.
func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// serversOf returns the servers of a connect string. What stands before an @, as
// credentials do in URLs, is left out.
func serversOf(connect string) []string {
	all := strings.Split(connect, ",")
	for i, server := range all {
		all[i] = server[strings.LastIndexByte(server, '@')+1:]
	}
	return all
}

// program returns the path of the main package, and its version or revision.
func program() (path, version string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)", "(unknown)"
	}
	version = info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			version += " " + s.Value
		}
	}
	return info.Path, version
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	const module = "github.com/incumbent-go/incumbent"
	if info.Main.Path == module {
		return info.Main.Version
	}
	for _, d := range info.Deps {
		if d.Path == module {
			return d.Version
		}
	}
	return "(unknown)"
}
