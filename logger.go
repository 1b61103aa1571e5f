package incumbent

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/async"
	"github.com/incumbent-go/incumbent/internal/usercode"
)

// logger writes to zerolog from a goroutine of its own: a slow sink does not delay the
// loop.
type logger struct {
	mail    *async.Calls
	out     zerolog.Logger
	off     bool
	dropped atomic.Uint64 // lines
}

// logger returns the Logger, or without one what writes warnings and errors to standard error, unless the flight log
// goes there.
func (c Config) logger(standardError io.Writer) zerolog.Logger {
	switch {
	case !reflect.ValueOf(c.Logger).IsZero():
		return c.Logger
	case c.Silent, c.Record == io.Writer(os.Stderr): // lines between the records would spoil the log
		return zerolog.Nop()
	}
	if standardError == nil {
		standardError = os.Stderr
	}
	lines := zerolog.ConsoleWriter{Out: standardError, NoColor: true, TimeFormat: time.DateTime}
	return zerolog.New(lines).Level(zerolog.WarnLevel).With().Timestamp().Logger()
}

// newLogger returns a logger whose lines name the client, if it has a name.
func newLogger(out zerolog.Logger, client string) *logger {
	off := out.GetLevel() == zerolog.Disabled
	if client != "" {
		out = out.With().Str("client", client).Logger()
	}
	l := &logger{out: out, off: off, mail: async.NewCalls(reportLostLine)}
	l.mail.Max, l.mail.Dropped = async.MaxUncalled, &l.dropped
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
	_ = usercode.Call(func() error { out.WithLevel(zerolog.ErrorLevel).Send(); return nil }) // the handler may be a user's
}

// log logs a line; fields may be nil. It never blocks: if the sink does, lines are dropped and counted.
func (l *logger) log(level zerolog.Level, text string, fields func(*zerolog.Event)) {
	if l.off || level < l.out.GetLevel() {
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

// lastLines is how long Close waits for a slow Logger.
const lastLines = 100 * time.Millisecond

// flush waits until what was logged before is written, or lastLines has passed: the program may end when Close returns.
func (l *logger) flush() {
	if l.off {
		return
	}
	written := make(chan struct{})
	l.mail.PutLast(func() { close(written) })
	late := time.NewTimer(lastLines)
	defer late.Stop()
	select {
	case <-written:
	case <-late.C:
	}
}

// hookCalls returns what calls a hook. Calls are dropped and counted if it is too slow.
func (c *Client) hookCalls(what, path string) *async.Calls {
	box := async.NewCalls(c.log.logPanic(what, path))
	box.Max, box.Dropped = async.MaxUncalled, &c.callsDropped
	return box
}

// guard calls a user's function, and then calls then with its error, on the same goroutine: also if the function
// panics, which is logged, or ends the goroutine.
func (l *logger) guard(what, path string, f func() error, then func(error)) {
	usercode.Run(f, func(err error) {
		var failed *usercode.Error
		if errors.As(err, &failed) {
			l.logPanic(what, path)(failed)
		}
		then(err)
	})
}

// logPanic returns a function that logs that a user's function did not return.
func (l *logger) logPanic(what, path string) func(*usercode.Error) {
	return func(failed *usercode.Error) {
		l.log(zerolog.ErrorLevel, what+" panicked", func(e *zerolog.Event) {
			if path != "" {
				e.Str("path", shownPath(path))
			}
			if failed.Panic == nil {
				e.Str("panic", failed.Error())
				return
			}
			e.Str("panic", events.Foreign(fmt.Sprint(failed.Panic), events.MaxText)).Bytes("stack", failed.Stack)
		})
	}
}
