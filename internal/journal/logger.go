// Package journal writes the lines of Config.Logger, each on a goroutine that may be slow.
package journal

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/async"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/usercode"
)

// Logger writes to zerolog from a goroutine of its own: a slow sink does not delay the
// loop.
type Logger struct {
	mail    *async.Calls
	out     zerolog.Logger
	off     bool
	Dropped atomic.Uint64 // lines
}

// New returns a logger whose lines name the client, if it has a name.
func New(out zerolog.Logger, client string) *Logger {
	off := out.GetLevel() == zerolog.Disabled
	if client != "" {
		out = out.With().Str("client", client).Logger()
	}
	l := &Logger{out: out, off: off, mail: async.NewCalls(reportLostLine)}
	l.mail.Max, l.mail.Dropped = async.MaxUncalled, &l.Dropped
	l.mail.Missing = func(n uint64) func() {
		return func() { l.out.Error().Uint64("lines", n).Msg("Config.Logger was too slow: lines are missing here") }
	}
	return l
}

// lostLine is a writer that refuses each line, because Config.Logger panicked.
type lostLine struct{ error }

func (l lostLine) Write([]byte) (int, error) { return 0, l }

// reportLostLine lets zerolog report that Config.Logger panicked, as it reports that a line could
// not be written: to zerolog.ErrorHandler, or to standard error.
func reportLostLine(failed *usercode.Error) {
	text := fmt.Errorf("incumbent: Config.Logger panicked, and a line is lost: %v\n%s", failed.Panic, failed.Stack)
	if failed.Panic == nil {
		text = fmt.Errorf("incumbent: Config.Logger failed, and a line is lost: %w", failed)
	}
	out := zerolog.New(lostLine{text})
	// the handler may be a user's
	_ = usercode.Call(func() error { out.WithLevel(zerolog.ErrorLevel).Send(); return nil })
}

// Log logs a line; fields may be nil. It never blocks: if the sink does, lines are dropped and counted.
func (l *Logger) Log(level zerolog.Level, text string, fields func(*zerolog.Event)) {
	if !l.Takes(level) {
		return
	}
	l.mail.Put(func() {
		e := l.out.WithLevel(level)
		if fields != nil {
			fields(e)
		}
		e.Msg(text)
	})
}

// Takes reports whether lines of a level are written. What is logged often asks first, because the function with the
// fields of a line is allocated.
func (l *Logger) Takes(level zerolog.Level) bool { return !l.off && level >= l.out.GetLevel() }

// LastLines is how long Close waits for a slow Logger.
const LastLines = 100 * time.Millisecond

// Flush waits until what was logged before is written, or LastLines has passed: the program may end when Close returns.
func (l *Logger) Flush() {
	if l.off {
		return
	}
	written := make(chan struct{})
	l.mail.PutLast(func() { close(written) })
	late := time.NewTimer(LastLines)
	defer late.Stop()
	select {
	case <-written:
	case <-late.C:
	}
}

// Guard calls a user's function, and then calls then with its error, on the same goroutine: also if the function
// panics, which is logged, or ends the goroutine.
func (l *Logger) Guard(what, path string, f func() error, then func(error)) {
	usercode.Run(f, func(err error) {
		var failed *usercode.Error
		if errors.As(err, &failed) {
			l.LogPanic(what, path)(failed)
		}
		then(err)
	})
}

// LogPanic returns a function that logs that a user's function did not return.
func (l *Logger) LogPanic(what, path string) func(*usercode.Error) {
	return func(failed *usercode.Error) {
		l.Log(zerolog.ErrorLevel, what+" panicked", func(e *zerolog.Event) {
			if path != "" {
				e.Str("path", fault.Path(path))
			}
			if failed.Panic == nil {
				e.Str("panic", failed.Error())
				return
			}
			e.Str("panic", events.Foreign(fmt.Sprint(failed.Panic), events.MaxText)).Bytes("stack", failed.Stack)
		})
	}
}

// AddErr adds an error to a line of the log.
func AddErr(e *zerolog.Event, err error) *zerolog.Event {
	if err == nil {
		return e
	}
	return e.Err(fault.Shown(err))
}
