package incumbent

import (
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// backlog is how many steps may wait for the log's writer before the loop does.
const backlog = 4096

// recorder writes the flight recorder's log from a goroutine of its own.
type recorder struct {
	steps   chan []events.Record
	done    chan struct{}
	failed  func(error)
	blocked atomic.Int64
}

func newRecorder(w io.Writer, h events.Header, failed func(error)) (*recorder, error) {
	lw, err := events.NewWriter(w, h)
	if err != nil {
		return nil, err
	}
	r := &recorder{steps: make(chan []events.Record, backlog), done: make(chan struct{}), failed: failed}
	go r.run(lw)
	return r, nil
}

// record is the loop's: it waits when the writer is far behind, and counts that.
func (r *recorder) record(step []events.Record) {
	step = slices.Clone(step)
	select {
	case r.steps <- step:
	default:
		r.blocked.Add(1)
		r.steps <- step
	}
}

// close writes what is left. Nothing may be recorded afterwards.
func (r *recorder) close() {
	close(r.steps)
	<-r.done
}

func (r *recorder) run(w *events.Writer) {
	defer close(r.done)
	var err error
	for step := range r.steps {
		for _, record := range step {
			if err == nil {
				err = w.Write(record)
			}
		}
		if err == nil && len(r.steps) == 0 {
			err = w.Flush()
		}
		if err != nil && r.failed != nil {
			r.failed(err)
			r.failed = nil // said once; the rest is dropped
		}
	}
	_ = w.Flush() // an error was told above, or there is nobody left to tell
}

// header describes this program and its settings. It holds no secret.
func header(c Config) events.Header {
	h := events.Header{
		Library: "incumbent " + version(),
		Go:      runtime.Version(),
		Charts:  map[string]string{},
		Options: c.options(),
		Start:   time.Now().UTC().Format(time.RFC3339Nano),
		StartAt: c.clock.Now(),
	}
	for _, r := range machines.Recipes() {
		h.Charts[r.Name()] = r.Digest()
	}
	return h
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
