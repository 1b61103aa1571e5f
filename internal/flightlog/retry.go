package flightlog

import (
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/journal"
)

// failed is called when the output failed. Only a directory can be used again.
func (r *Recorder) failed(err error) {
	if !r.out.discard() {
		r.end(err)
		return
	}
	r.fail(err)
}

// retryOutput is how long after a failure the output is tried again.
const retryOutput = 5 * time.Second

// fail drops what waits, and all that follows until the output can be written to again.
func (r *Recorder) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue, r.waiting, r.asked = batch{}, 0, false
	lost := r.seen - r.written - r.dropped
	r.dropped += lost
	if r.gap == nil {
		r.gaps++
		r.gap = &openGap{since: r.now()}
	}
	r.gap.from, r.gap.to = r.out.safe()+1, r.last
	r.gap.why = "the log could not be written for %s: " + strings.ReplaceAll(err.Error(), "%", "%%")
	if r.broken == nil {
		r.log.Log(zerolog.ErrorLevel,
			"the flight log cannot be written: records are dropped, and it is tried again every 5s",
			func(e *zerolog.Event) { journal.AddErr(e, err) })
	}
	r.broken = err
	time.AfterFunc(retryOutput, func() {
		select {
		case r.retry <- struct{}{}:
		default:
		}
	})
}

// resume tries the output again.
func (r *Recorder) resume() {
	r.mu.Lock()
	broken, before := r.broken, r.out.safe()
	r.mu.Unlock()
	if broken == nil {
		return
	}
	if err := r.out.begin(before); err != nil {
		r.out.discard()
		r.fail(err)
		return
	}
	r.mu.Lock()
	r.broken = nil
	if r.checkpoints == nil || r.closed {
		r.endGap() // else a checkpoint does
	}
	r.mu.Unlock()
	r.askCheckpoint()
	r.log.Log(zerolog.WarnLevel, "the flight log is written again", func(e *zerolog.Event) {
		e.Str("segment",
			fault.Path(r.out.segment()))
	})
}
